# An ordered sum of products, as gcc -O2 -march=skylake compiles `s += a[i]*b[i]`.
# OSACA-BEGIN
.L4:
	vmovsd	(%rdi,%rax,8), %xmm1
	vmulsd	(%rsi,%rax,8), %xmm1, %xmm1
	vaddsd	%xmm1, %xmm0, %xmm0
	addq	$1, %rax
	cmpq	%rcx, %rax
	jne	.L4
# OSACA-END
