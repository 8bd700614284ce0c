load ARG0[1:strlen(ARG0)-11]."style.gp"
set datafile separator "\t"
set terminal svg size 840,330 dynamic font "Helvetica,13" background "white"
unset grid
set yrange [0.4:2.5]
set ytics ("06\\_wmma\\_db" 1, "05\\_wmma" 2) scale 0
set xlabel "clocks of the SM (1.98 GHz at most)" offset 0,0.3
set title "Eight iterations of one block, one of four on its SM: thread 0 stamps when it loads, waits and multiplies"
set key outside top center horizontal Left reverse samplen 2
plot data."timeline-05-load.dat" using (($1+$2)/2):(2):1:2:(1.7):(2.3) with boxxyerror fs pattern 2 lc rgb "black" title "load (05), issue copies (06)", \
     data."timeline-05-wait.dat" using (($1+$2)/2):(2):1:2:(1.7):(2.3) with boxxyerror fs pattern 0 lc rgb "black" title "wait", \
     data."timeline-05-multiply.dat" using (($1+$2)/2):(2):1:2:(1.7):(2.3) with boxxyerror fs solid 0.55 lc rgb "black" title "multiply", \
     data."timeline-06-load.dat" using (($1+$2)/2):(1):1:2:(0.7):(1.3) with boxxyerror fs pattern 2 lc rgb "black" notitle, \
     data."timeline-06-wait.dat" using (($1+$2)/2):(1):1:2:(0.7):(1.3) with boxxyerror fs pattern 0 lc rgb "black" notitle, \
     data."timeline-06-multiply.dat" using (($1+$2)/2):(1):1:2:(0.7):(1.3) with boxxyerror fs solid 0.55 lc rgb "black" notitle
