load ARG0[1:strlen(ARG0)-11]."style.gp"
stats data."ceilings.dat" using 1 nooutput; fp32 = STATS_max
stats data."ceilings.dat" using 2 nooutput; tf32 = STATS_max
stats data."ceilings.dat" using 3 nooutput; memory = STATS_max
stats data."l2.dat" using 1 nooutput; l2 = STATS_max
set datafile separator "\t"
set logscale xy
set xrange [0.1:2000]
set yrange [0.2:1000]
set xlabel "operations per byte" offset 0,0.3
set ylabel "trillions of operations a second"
set title "Roofline: every step by the bytes of DRAM (filled) and by the bytes that L2 sends to the SMs (hollow)" font ",13"
set key bottom right Left reverse samplen 3 opaque
min(a,b) = a < b ? a : b
set label 1 sprintf("FP32 %.0f TFLOP/s", fp32) at 0.12,fp32*1.25
set label 2 sprintf("TF32 %.0f TFLOP/s", tf32) at 0.12,tf32*1.12
plot min(memory*1e-3*x, tf32) lc rgb "black" lw 1.5 title sprintf("DRAM, %.0f GB/s", memory), \
     min(l2*x, tf32) lc rgb "black" dt 4 lw 1.5 title sprintf("L2 to the SMs, %.1f TB/s (06's loads alone)", l2), \
     fp32 lc rgb "black" dt 2 notitle, \
     data."roofline.dat" using 3:4:($2-$3):(0) with vectors nohead lc rgb "#aaaaaa" notitle, \
     data."roofline.dat" using 2:4 with points pt 7 ps 0.9 lc rgb "black" title "by DRAM bytes", \
     data."roofline.dat" using 3:4 with points pt 6 ps 0.9 lc rgb "black" title "by L2 bytes", \
     data."roofline.dat" using 2:4:(strcol(1)[1:2] eq "07" ? "" : strcol(1)[1:2]) with labels offset 1.8,0 notitle, \
     data."roofline.dat" using 2:4:(strcol(1)[1:2] eq "07" ? "07" : "") with labels offset 0,0.8 notitle
