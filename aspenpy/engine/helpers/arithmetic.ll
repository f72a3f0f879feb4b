; What a formula needs besides instructions. As in arithmetic.h: a value that is not finite is none, and no function
; makes a finite one of it.

declare double @log(double) nounwind willreturn memory(none)
declare double @log2(double) nounwind willreturn memory(none)
declare double @log10(double) nounwind willreturn memory(none)
declare double @log1p(double) nounwind willreturn memory(none)
declare double @exp(double) nounwind willreturn memory(none)
declare double @pow(double, double) nounwind willreturn memory(none)
declare double @cbrt(double) nounwind willreturn memory(none)
declare double @fmod(double, double) nounwind willreturn memory(none)
declare double @llvm.sqrt.f64(double)
declare double @llvm.floor.f64(double)
declare double @llvm.ceil.f64(double)
declare double @llvm.rint.f64(double)
declare double @llvm.fabs.f64(double)

define private double @aspen_exp(double %x) alwaysinline {
  %size = call double @llvm.fabs.f64(double %x)
  %finite = fcmp olt double %size, 0x7FF0000000000000
  %power = call double @exp(double %x)
  %result = select i1 %finite, double %power, double 0x7FF8000000000000
  ret double %result
}

define private double @aspen_pow(double %base, double %exponent) alwaysinline {
  %above = call double @llvm.fabs.f64(double %base)
  %below = call double @llvm.fabs.f64(double %exponent)
  %first = fcmp olt double %above, 0x7FF0000000000000
  %second = fcmp olt double %below, 0x7FF0000000000000
  %finite = and i1 %first, %second
  %power = call double @pow(double %base, double %exponent)
  %result = select i1 %finite, double %power, double 0x7FF8000000000000
  ret double %result
}

define private double @aspen_mod(double %a, double %b) alwaysinline {
  %size = call double @llvm.fabs.f64(double %b)
  %finite = fcmp olt double %size, 0x7FF0000000000000
  %rest = call double @fmod(double %a, double %b)
  %below = fcmp olt double %rest, 0.0
  %downwards = fcmp olt double %b, 0.0
  %differ = xor i1 %below, %downwards
  %some = fcmp one double %rest, 0.0
  %other = and i1 %differ, %some
  %moved = fadd double %rest, %b
  %signed = select i1 %other, double %moved, double %rest
  %result = select i1 %finite, double %signed, double 0x7FF8000000000000
  ret double %result
}

define private double @aspen_root(double %x, double %degree) alwaysinline {
  %third = fcmp oeq double %degree, 3.0
  %part = fdiv double 1.0, %degree
  %third_root = call double @cbrt(double %x)
  %other_root = call double @pow(double %x, double %part)
  %root = select i1 %third, double %third_root, double %other_root
  %near = call double @llvm.rint.f64(double %root)
  %power = call double @pow(double %near, double %degree)
  %whole = fcmp oeq double %power, %x
  %exact = select i1 %whole, double %near, double %root
  %negative = fcmp olt double %x, 0.0
  %result = select i1 %negative, double 0x7FF8000000000000, double %exact
  ret double %result
}

define private double @aspen_gcd(double %a, double %b) nounwind willreturn memory(none) {
entry:
  %first = call double @llvm.fabs.f64(double %a)
  %second = call double @llvm.fabs.f64(double %b)
  %first_floor = call double @llvm.floor.f64(double %first)
  %second_floor = call double @llvm.floor.f64(double %second)
  %first_whole = fcmp oeq double %first, %first_floor
  %second_whole = fcmp oeq double %second, %second_floor
  %first_finite = fcmp olt double %first, 0x7FF0000000000000
  %second_finite = fcmp olt double %second, 0x7FF0000000000000
  %whole = and i1 %first_whole, %second_whole
  %finite = and i1 %first_finite, %second_finite
  %fine = and i1 %whole, %finite
  br i1 %fine, label %test, label %end
test:
  %large = phi double [ %first, %entry ], [ %small, %pass ]
  %small = phi double [ %second, %entry ], [ %rest, %pass ]
  %done = fcmp oeq double %small, 0.0
  br i1 %done, label %end, label %pass
pass:
  %rest = call double @fmod(double %large, double %small)
  br label %test
end:
  %result = phi double [ 0x7FF8000000000000, %entry ], [ %large, %test ]
  ret double %result
}
