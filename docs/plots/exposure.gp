load ARG0[1:strlen(ARG0)-11]."style.gp"
set datafile separator "\t"
set xrange [0:1]
set yrange [0.9:2.6]
set xlabel "exposed load: share of the synchronous kernel's time that is not its multiply alone" offset 0,0.3
set ylabel "gain of asynchronous copy (times)"
set title "Asynchronous copy gains what was exposed, if there is work to hide it behind"
set key top left Left reverse samplen 3
plot 1/(1-x) lc rgb "black" dt 2 title "all of it hidden: 1 / (1 - x)", 1 lc rgb "black" notitle, \
     data."exposure-tf32.dat" using 1:2 with linespoints pt 7 lc rgb "black" title "Tensor Cores: 05 to 06, at 1 to 4 blocks an SM", \
     data."exposure-fp32.dat" using 1:2 with linespoints pt 6 lc rgb "black" title "FP32: 04 to 07, at 1 to 4 blocks an SM", \
     data."exposure-streaming.dat" using 1:2 with points pt 10 ps 1.3 lc rgb "black" title "08, 09: nothing to hide it behind (x: clocks without an instruction)", \
     data."exposure-tf32.dat" using 1:2:3 with labels offset 1.2,-0.4 notitle, \
     data."exposure-fp32.dat" using 1:2:3 with labels offset 1.2,-0.4 notitle
