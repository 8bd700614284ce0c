# What all plots share: black and white, told apart by pattern and by shape.
set terminal svg size 840,520 dynamic font "Helvetica,13" background "white"
set output svg
set border 3 lw 1
set tics nomirror out
set grid ytics lc rgb "#cccccc" lw 0.5
set style fill pattern border lc rgb "black"
set label 99 caption at screen 0.99,0.015 right font ",10"
set bmargin 5
