; The hits of an LRU cache at LANES points at once; see aspen_lru_hits in caches.h. The result is NaN where there is no
; value. Logarithm and exponential are those of fdlibm (Sun Microsystems, 1993), right to the last digit but one.

declare <LANES x double> @llvm.floor.vLANESf64(<LANES x double>)
declare i1 @llvm.vector.reduce.or.vLANESi1(<LANES x i1>)

; The logarithm of a positive number 2^k m, with sqrt(1/2) <= m < sqrt(2): k log 2 + log m
define private <LANES x double> @aspen_log_LANES(<LANES x double> %x) alwaysinline {
  %bits = bitcast <LANES x double> %x to <LANES x i64>
  %moved = add <LANES x i64> %bits, splat (i64 2638149301829632)
  %biased = lshr <LANES x i64> %moved, splat (i64 52)
  %above = or <LANES x i64> %biased, splat (i64 4841369599423283200)
  %large = bitcast <LANES x i64> %above to <LANES x double>
  %k = fsub <LANES x double> %large, splat (double 0x43300000000003FF)
  %kept = and <LANES x i64> %moved, splat (i64 4503599627370495)
  %m_bits = add <LANES x i64> %kept, splat (i64 4604544269498187776)
  %m = bitcast <LANES x i64> %m_bits to <LANES x double>
  %f = fsub <LANES x double> %m, splat (double 1.0)
  %f2 = fadd <LANES x double> %f, splat (double 2.0)
  %s = fdiv <LANES x double> %f, %f2
  %z = fmul <LANES x double> %s, %s
  %w = fmul <LANES x double> %z, %z
  %even6 = fmul <LANES x double> %w, splat (double 0x3FC39A09D078C69F)
  %even5 = fadd <LANES x double> %even6, splat (double 0x3FCC71C51D8E78AF)
  %even4 = fmul <LANES x double> %w, %even5
  %even3 = fadd <LANES x double> %even4, splat (double 0x3FD999999997FA04)
  %even = fmul <LANES x double> %w, %even3
  %odd7 = fmul <LANES x double> %w, splat (double 0x3FC2F112DF3E5244)
  %odd6 = fadd <LANES x double> %odd7, splat (double 0x3FC7466496CB03DE)
  %odd5 = fmul <LANES x double> %w, %odd6
  %odd4 = fadd <LANES x double> %odd5, splat (double 0x3FD2492494229359)
  %odd3 = fmul <LANES x double> %w, %odd4
  %odd2 = fadd <LANES x double> %odd3, splat (double 0x3FE5555555555593)
  %odd = fmul <LANES x double> %z, %odd2
  %r = fadd <LANES x double> %odd, %even
  %half = fmul <LANES x double> %f, splat (double 0.5)
  %square = fmul <LANES x double> %half, %f
  %sum = fadd <LANES x double> %square, %r
  %product = fmul <LANES x double> %s, %sum
  %low = fmul <LANES x double> %k, splat (double 0x3DEA39EF35793C76)
  %tail = fadd <LANES x double> %product, %low
  %rest = fsub <LANES x double> %square, %tail
  %back = fsub <LANES x double> %rest, %f
  %high = fmul <LANES x double> %k, splat (double 0x3FE62E42FEE00000)
  %result = fsub <LANES x double> %high, %back
  ret <LANES x double> %result
}

; The exponential of a number k log 2 + r from -708 to 709, with |r| <= log(2)/2: 2^k exp(r)
define private <LANES x double> @aspen_exp_LANES(<LANES x double> %x) alwaysinline {
  %shifted = fmul <LANES x double> %x, splat (double 0x3FF71547652B82FE)
  %magic = fadd <LANES x double> %shifted, splat (double 0x4338000000000000)
  %k = fsub <LANES x double> %magic, splat (double 0x4338000000000000)
  %high = fmul <LANES x double> %k, splat (double 0x3FE62E42FEE00000)
  %near = fsub <LANES x double> %x, %high
  %low = fmul <LANES x double> %k, splat (double 0x3DEA39EF35793C76)
  %r = fsub <LANES x double> %near, %low
  %t = fmul <LANES x double> %r, %r
  %p5 = fmul <LANES x double> %t, splat (double 0x3E66376972BEA4D0)
  %p4 = fadd <LANES x double> %p5, splat (double 0xBEBBBD41C5D26BF1)
  %q4 = fmul <LANES x double> %t, %p4
  %p3 = fadd <LANES x double> %q4, splat (double 0x3F11566AAF25DE2C)
  %q3 = fmul <LANES x double> %t, %p3
  %p2 = fadd <LANES x double> %q3, splat (double 0xBF66C16C16BEBD93)
  %q2 = fmul <LANES x double> %t, %p2
  %p1 = fadd <LANES x double> %q2, splat (double 0x3FC555555555553E)
  %q1 = fmul <LANES x double> %t, %p1
  %c = fsub <LANES x double> %r, %q1
  %top = fmul <LANES x double> %r, %c
  %bottom = fsub <LANES x double> splat (double 2.0), %c
  %quotient = fdiv <LANES x double> %top, %bottom
  %rest = fsub <LANES x double> %low, %quotient
  %back = fsub <LANES x double> %rest, %near
  %mantissa = fsub <LANES x double> splat (double 1.0), %back
  %k_bits = bitcast <LANES x double> %magic to <LANES x i64>
  %biased = add <LANES x i64> %k_bits, splat (i64 1023)
  %scale_bits = shl <LANES x i64> %biased, splat (i64 52)
  %scale = bitcast <LANES x i64> %scale_bits to <LANES x double>
  %result = fmul <LANES x double> %mantissa, %scale
  ret <LANES x double> %result
}

define <LANES x double> @aspen_lru_hits_LANES(<LANES x double> %distance, <LANES x double> %ways, <LANES x double> %lines) noinline nounwind willreturn memory(none) {
entry:
  %floor = call <LANES x double> @llvm.floor.vLANESf64(<LANES x double> %ways)
  %whole = fcmp oeq <LANES x double> %floor, %ways
  %least = fcmp oge <LANES x double> %ways, splat (double 1.0)
  %most = fcmp ole <LANES x double> %ways, splat (double 1.0e6)
  %positive = fcmp oge <LANES x double> %distance, zeroinitializer
  %finite = fcmp olt <LANES x double> %distance, splat (double 0x7FF0000000000000)
  %enough = fcmp oge <LANES x double> %lines, %ways
  %bounded = fcmp olt <LANES x double> %lines, splat (double 0x7FF0000000000000)
  %fine1 = and <LANES x i1> %whole, %least
  %fine2 = and <LANES x i1> %most, %positive
  %fine3 = and <LANES x i1> %finite, %enough
  %fine4 = and <LANES x i1> %fine1, %fine2
  %fine5 = and <LANES x i1> %fine3, %bounded
  %fine = and <LANES x i1> %fine4, %fine5
  %behind = fsub <LANES x double> %distance, %ways
  %beyond = fadd <LANES x double> %behind, splat (double 1.0)
  %further = fcmp ogt <LANES x double> %beyond, zeroinitializer
  %several = fcmp one <LANES x double> %ways, %lines
  %open1 = and <LANES x i1> %fine, %further
  %open = and <LANES x i1> %open1, %several
  %share = fdiv <LANES x double> %ways, %lines
  %chance = select <LANES x i1> %open, <LANES x double> %share, <LANES x double> splat (double 0.5)
  %passes = fsub <LANES x double> %ways, splat (double 1.0)
  %last = select <LANES x i1> %open, <LANES x double> %passes, <LANES x double> zeroinitializer
  ; 1 - p is rounded to `rest`; log(1 - p) = log(rest) - error/(1 - p), and where the error is not 0, 1/(1 - p) = 1 + p
  %rest = fsub <LANES x double> splat (double 1.0), %chance
  %taken = fsub <LANES x double> splat (double 1.0), %rest
  %error = fsub <LANES x double> %chance, %taken
  %slope = fadd <LANES x double> %chance, splat (double 1.0)
  %missed = fmul <LANES x double> %error, %slope
  %rounded = call <LANES x double> @aspen_log_LANES(<LANES x double> %rest)
  %log = fsub <LANES x double> %rounded, %missed
  %begin = fmul <LANES x double> %beyond, %log
  %more = fcmp ogt <LANES x double> %last, zeroinitializer
  %any = call i1 @llvm.vector.reduce.or.vLANESi1(<LANES x i1> %more)
  br i1 %any, label %pass, label %summed
pass:
  %way = phi double [ 0.0, %entry ], [ %next, %added ]
  %active = phi <LANES x i1> [ %more, %entry ], [ %left, %added ]
  %term = phi <LANES x double> [ splat (double 1.0), %entry ], [ %new_term, %added ]
  %total = phi <LANES x double> [ splat (double 1.0), %entry ], [ %new_total, %added ]
  %power = phi <LANES x double> [ %begin, %entry ], [ %new_power, %added ]
  %next = fadd double %way, 1.0
  %part = fdiv double 1.0, %next
  %part1 = insertelement <LANES x double> poison, double %part, i32 0
  %parts = shufflevector <LANES x double> %part1, <LANES x double> poison, <LANES x i32> zeroinitializer
  %way1 = insertelement <LANES x double> poison, double %way, i32 0
  %ways_done = shufflevector <LANES x double> %way1, <LANES x double> poison, <LANES x i32> zeroinitializer
  %next1 = insertelement <LANES x double> poison, double %next, i32 0
  %nexts = shufflevector <LANES x double> %next1, <LANES x double> poison, <LANES x i32> zeroinitializer
  %lines_left = fadd <LANES x double> %beyond, %ways_done
  %weight = fmul <LANES x double> %chance, %parts
  %ratio = fmul <LANES x double> %lines_left, %weight
  %factor = select <LANES x i1> %active, <LANES x double> %ratio, <LANES x double> zeroinitializer
  %raw_term = fmul <LANES x double> %term, %factor
  %raw_total = fadd <LANES x double> %total, %raw_term
  %left = fcmp olt <LANES x double> %nexts, %last
  %again = call i1 @llvm.vector.reduce.or.vLANESi1(<LANES x i1> %left)
  %large = fcmp ogt <LANES x double> %raw_total, splat (double 0x73D658E3AB795204)
  %scale = call i1 @llvm.vector.reduce.or.vLANESi1(<LANES x i1> %large)
  br i1 %scale, label %scaled, label %added
scaled:
  %small_term = fmul <LANES x double> %raw_term, splat (double 0x0C06E93F5DA2824C)
  %small_total = fmul <LANES x double> %raw_total, splat (double 0x0C06E93F5DA2824C)
  %large_power = fadd <LANES x double> %power, splat (double 0x4081FD2B914F1517)
  %scaled_term = select <LANES x i1> %large, <LANES x double> %small_term, <LANES x double> %raw_term
  %scaled_total = select <LANES x i1> %large, <LANES x double> %small_total, <LANES x double> %raw_total
  %scaled_power = select <LANES x i1> %large, <LANES x double> %large_power, <LANES x double> %power
  br label %added
added:
  %new_term = phi <LANES x double> [ %raw_term, %pass ], [ %scaled_term, %scaled ]
  %new_total = phi <LANES x double> [ %raw_total, %pass ], [ %scaled_total, %scaled ]
  %new_power = phi <LANES x double> [ %power, %pass ], [ %scaled_power, %scaled ]
  br i1 %again, label %pass, label %summed
summed:
  %sum = phi <LANES x double> [ splat (double 1.0), %entry ], [ %new_total, %added ]
  %exponent = phi <LANES x double> [ %begin, %entry ], [ %new_power, %added ]
  ; exp(x) can underflow where exp(x) * sum does not: multiply by exp(x/2) twice
  %half = fmul <LANES x double> %exponent, splat (double 0.5)
  %moderate = fcmp ogt <LANES x double> %half, splat (double -700.0)
  %bound = select <LANES x i1> %moderate, <LANES x double> %half, <LANES x double> splat (double -700.0)
  %root = call <LANES x double> @aspen_exp_LANES(<LANES x double> %bound)
  %first = fmul <LANES x double> %root, %sum
  %hits = fmul <LANES x double> %first, %root
  %over = fcmp ogt <LANES x double> %hits, splat (double 1.0)
  %probability = select <LANES x i1> %over, <LANES x double> splat (double 1.0), <LANES x double> %hits
  %beyond_all = select <LANES x i1> %several, <LANES x double> %probability, <LANES x double> zeroinitializer
  %held = select <LANES x i1> %further, <LANES x double> %beyond_all, <LANES x double> splat (double 1.0)
  %result = select <LANES x i1> %fine, <LANES x double> %held, <LANES x double> splat (double 0x7FF8000000000000)
  ret <LANES x double> %result
}
