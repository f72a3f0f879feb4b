; The laws of caches that are code of their own. As in caches.h: 0x7FF8000000000000 where they have no value.

define private double @aspen_lru_hits(double %distance, double %ways, double %lines) nounwind willreturn memory(none) {
entry:
  %floor = call double @llvm.floor.f64(double %ways)
  %whole = fcmp oeq double %floor, %ways
  %least = fcmp oge double %ways, 1.0
  %most = fcmp ole double %ways, 1.0e6
  %positive = fcmp oge double %distance, 0.0
  %finite = fcmp olt double %distance, 0x7FF0000000000000
  %enough = fcmp oge double %lines, %ways
  %bounded = fcmp olt double %lines, 0x7FF0000000000000
  %fine1 = and i1 %whole, %least
  %fine2 = and i1 %most, %positive
  %fine3 = and i1 %finite, %enough
  %fine4 = and i1 %fine1, %fine2
  %fine5 = and i1 %fine3, %bounded
  %fine = and i1 %fine4, %fine5
  br i1 %fine, label %valid, label %end
valid:
  %behind = fsub double %distance, %ways
  %beyond = fadd double %behind, 1.0
  %held = fcmp ole double %beyond, 0.0
  br i1 %held, label %end, label %further
further:
  %single = fcmp oeq double %ways, %lines
  br i1 %single, label %end, label %several
several:
  %chance = fdiv double %ways, %lines
  %rest = fsub double 1.0, %chance
  %lost = fsub double 1.0, %rest
  %rounded = fdiv double %chance, %lost
  %log = call double @log(double %rest)
  %ruled = fmul double %log, %rounded
  %tiny = fcmp oeq double %rest, 1.0
  %missed = fneg double %chance
  %accurate = select i1 %tiny, double %missed, double %ruled
  %begin = fmul double %beyond, %accurate
  %last = fsub double %ways, 1.0
  %more = fcmp ogt double %last, 0.0
  br i1 %more, label %quick, label %summed
quick:
  %quick_way = phi double [ 0.0, %several ], [ %quick_next, %quick ]
  %quick_term = phi double [ 1.0, %several ], [ %quick_new_term, %quick ]
  %quick_total = phi double [ 1.0, %several ], [ %quick_new_total, %quick ]
  %quick_next = fadd double %quick_way, 1.0
  %quick_left = fadd double %beyond, %quick_way
  %quick_ratio = fdiv double %quick_left, %quick_next
  %quick_factor = fmul double %quick_ratio, %chance
  %quick_new_term = fmul double %quick_term, %quick_factor
  %quick_new_total = fadd double %quick_total, %quick_new_term
  %quick_again = fcmp olt double %quick_next, %last
  br i1 %quick_again, label %quick, label %quickly
quickly:
  %moderate = fcmp ole double %quick_new_total, 0x73D658E3AB795204
  br i1 %moderate, label %summed, label %pass
pass:
  %way = phi double [ 0.0, %quickly ], [ %next, %added ]
  %term = phi double [ 1.0, %quickly ], [ %new_term, %added ]
  %total = phi double [ 1.0, %quickly ], [ %new_total, %added ]
  %logarithm = phi double [ %begin, %quickly ], [ %new_logarithm, %added ]
  %next = fadd double %way, 1.0
  %lines_left = fadd double %beyond, %way
  %ratio = fdiv double %lines_left, %next
  %factor = fmul double %ratio, %chance
  %raw_term = fmul double %term, %factor
  %raw_total = fadd double %total, %raw_term
  %large = fcmp ogt double %raw_total, 0x73D658E3AB795204
  br i1 %large, label %scaled, label %added
scaled:
  %scaled_term = fmul double %raw_term, 0x0C06E93F5DA2824C
  %scaled_total = fmul double %raw_total, 0x0C06E93F5DA2824C
  %scaled_logarithm = fadd double %logarithm, 0x4081FD2B914F1517
  br label %added
added:
  %new_term = phi double [ %raw_term, %pass ], [ %scaled_term, %scaled ]
  %new_total = phi double [ %raw_total, %pass ], [ %scaled_total, %scaled ]
  %new_logarithm = phi double [ %logarithm, %pass ], [ %scaled_logarithm, %scaled ]
  %again = fcmp olt double %next, %last
  br i1 %again, label %pass, label %summed
summed:
  %sum = phi double [ 1.0, %several ], [ %quick_new_total, %quickly ], [ %new_total, %added ]
  %power = phi double [ %begin, %several ], [ %begin, %quickly ], [ %new_logarithm, %added ]
  %small = fcmp olt double %power, -600.0
  br i1 %small, label %far, label %near
far:
  %log_sum = call double @log(double %sum)
  %exponent = fadd double %power, %log_sum
  %far_hits = call double @exp(double %exponent)
  br label %decided
near:
  %outer = call double @exp(double %power)
  %near_hits = fmul double %outer, %sum
  br label %decided
decided:
  %hits = phi double [ %far_hits, %far ], [ %near_hits, %near ]
  %over = fcmp ogt double %hits, 1.0
  %probability = select i1 %over, double 1.0, double %hits
  br label %end
end:
  %result = phi double [ 0x7FF8000000000000, %entry ], [ 1.0, %valid ], [ 0.0, %further ], [ %probability, %decided ]
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
