load ARG0[1:strlen(ARG0)-14]."style.gp"
set datafile separator "\t"
set size square
set logscale xy
set xrange [0.25:6.5]
set yrange [0.25:6.5]
set xtics (0.25, 0.5, 0.7, 1, 1.5, 2, 3, 4, 6)
set ytics (0.25, 0.5, 0.7, 1, 1.5, 2, 3, 4, 6)
set terminal svg noenhanced size 720,720 dynamic font "Helvetica,13" background "white"
set xlabel "predicted speed-up over the base (committed before)" offset 0,0.3
set ylabel "measured speed-up over the base"
set title "Predicted against measured: the line is agreement, the dashes are 10% off"
set key top left Left reverse samplen 1
off(x, y) = abs(y / x - 1) > 0.15
plot x notitle lc rgb "black", 1.1*x notitle dt 3 lc rgb "black", x/1.1 notitle dt 3 lc rgb "black", \
     data."predictions-steps.dat" using 2:3 with points pt 7 lc rgb "black" title "steps", \
     data."predictions.dat" using 2:3 with points pt 6 lc rgb "black" title "experiments", \
     data."predictions-steps.dat" using 2:3:(strcol(1)[1:2]) with labels offset 1.4,-0.3 notitle, \
     data."predictions.dat" using 2:(off($2,$3) ? $3 : NaN):1 with labels noenhanced left offset 0.8,0 font ",9" notitle
