load ARG0[1:strlen(ARG0)-9]."style.gp"
stats data."ceilings.dat" using 1 nooutput; fp32 = STATS_max
stats data."ceilings.dat" using 2 nooutput; tf32 = STATS_max
stats data."ceilings.dat" using 3 nooutput; memory = STATS_max
set terminal svg size 840,860 dynamic font "Helvetica,13" background "white"
set datafile separator "\t"
set multiplot layout 2,1
set style data histogram
set style histogram clustered gap 1
set key outside top center horizontal Left reverse samplen 2
set xtics noenhanced scale 0 font ",10.5"
set ylabel "TFLOP/s"
set logscale y
set yrange [4:900]
set bmargin 4
set title "Matrix product: every step, the library, the ceiling of the arithmetic"
set arrow 1 from graph 0,first fp32 to graph 1,first fp32 nohead dt 2
set label 1 sprintf("FP32 ceiling %.0f", fp32) at graph 0.005,first fp32*1.18
set arrow 2 from graph 0,first tf32 to graph 1,first tf32 nohead dt 2
set label 2 sprintf("TF32 ceiling %.0f, which takes wgmma: 05 and 06 use mma.sync", tf32) at graph 0.005,first tf32*1.18
plot data."ladder-gemm.dat" using 2:xtic(1) title "4096 x 2048 x 4096" fs pattern 0 lc rgb "black", \
     "" using 3 title "4096 x 4096 x 4096" fs pattern 2 lc rgb "black", \
     "" using 4 title "8192 x 8192 x 8192" fs pattern 3 lc rgb "black"
unset logscale y
unset label 2
unset arrow 2
unset label 99
set yrange [0:6000]
set ylabel "GB/s, read and written"
set title "Sum and scan: baseline, step, library, copy"
set arrow 1 from graph 0,first memory to graph 1,first memory nohead dt 2
set label 1 sprintf("memory ceiling %.0f", memory) at graph 0.005,first memory*1.05
plot data."ladder-vector.dat" using 2:xtic(1) title "2^{24} elements" fs pattern 0 lc rgb "black", \
     "" using 3 title "2^{28}" fs pattern 2 lc rgb "black", \
     "" using 4 title "2^{30}" fs pattern 3 lc rgb "black"
unset multiplot
