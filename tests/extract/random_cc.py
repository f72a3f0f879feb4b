"""Random programs in C++: classes with accessors, references, containers, templates, operators, lambdas and loops over
ranges. `real` is `double`, or a class that counts its operations: of one text, one is extracted, the other runs."""

from __future__ import annotations

from random import Random

HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <vector>
#ifdef COUNTED
struct real {
  double v;
  static long add, multiply, divide;
  real(double value = 0) : v(value) {}
  real& operator+=(const real& o) { add++; v += o.v; return *this; }
  real& operator-=(const real& o) { add++; v -= o.v; return *this; }
  real& operator*=(const real& o) { multiply++; v *= o.v; return *this; }
  real& operator/=(const real& o) { divide++; v /= o.v; return *this; }
  friend real operator+(real a, const real& b) { return a += b; }
  friend real operator-(real a, const real& b) { return a -= b; }
  friend real operator*(real a, const real& b) { return a *= b; }
  friend real operator/(real a, const real& b) { return a /= b; }
};
long real::add, real::multiply, real::divide;
#else
typedef double real;
#endif
template <typename T> inline T square(const T& x) { return x * x; }
template <typename T> T summed(const std::vector<T>& all) { T s = 0; for (const T& x : all) s += x; return s; }
template <typename T, int N> struct Small {
  T v[N];
  T& operator[](int i) { return v[i]; }
  const T& operator[](int i) const { return v[i]; }
  T dot(const Small& o) const { T s = 0; for (int i = 0; i < N; i++) s += v[i] * o.v[i]; return s; }
  Small operator+(const Small& o) const { Small s; for (int i = 0; i < N; i++) s.v[i] = v[i] + o.v[i]; return s; }
  Small& operator*=(const T& by) { for (int i = 0; i < N; i++) v[i] *= by; return *this; }
};
"""

MAIN = """int main(int argc, char** argv) {
  int n = atoi(argv[1]), m = atoi(argv[2]);
  work(n, m);
#ifdef COUNTED
  printf("%ld %ld %ld\\n", real::add, real::multiply, real::divide);
#endif
  return 0;
}
"""

ROOM = 64
"""Elements behind those that sizes ask for, so that each subscript of a small number lies inside."""


class Program:
    """One program from one seed; it gets two sizes, and prints what it counts."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.names = 0
        self.counters: list[str] = []
        self.small: list[str] = []  # those of them that lie in each array
        self.reals = ["s"]

    def text(self) -> str:
        extent = self.random.randint(2, 5)
        body = " ".join(self.statement(3) for _ in range(self.random.randint(2, 5)))
        declared = f"Field a(n + {ROOM}), b(n + {ROOM}); std::vector<real> u(m + {ROOM}), w(m + {ROOM}, 0.5); "
        declared += f"Small<real, {extent}> p, q; real s = 0.5;"
        return f"{HEAD}{self.field()}void work(int n, int m) {{ {declared} {body} }}\n{MAIN}"

    def field(self) -> str:
        """A class of a random manner: what its methods compute, and how its elements are reached."""
        by = self.pick("int i", "const int i", "const int& i")
        scale = self.pick("for (auto& x : m_x) x *= f;", "for (int i = 0; i < size(); ++i) at(i) *= f;")
        total = self.pick("for (auto x : m_x) s += x;", "for (int i = 0; i != m_n; i++) s += get(i);")
        return f"""class Field {{
 public:
  explicit Field(int n) : m_n(n), m_x(n) {{}}
  int size() const {{ return {self.pick("m_n", "(int)m_x.size()")}; }}
  real& at({by}) {{ return m_x[i]; }}
  real get({by}) const {{ return m_x[i]; }}
  real blend({by}, const real& f) const {{ return get(i) * f + m_x[i + 1]; }}
  void scale(real f) {{ {scale} }}
  real total() const {{ real s = 0; {total} return s; }}
 private:
  int m_n;
  std::vector<real> m_x;
}};
"""

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def new(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    # -- statements --------------------------------------------------------------------------------

    def block(self, depth: int) -> str:
        reals = len(self.reals)
        inside = " ".join(self.statement(depth - 1) for _ in range(self.random.randint(1, 3)))
        del self.reals[reals:]
        return f"{{ {inside} }}"

    def statement(self, depth: int) -> str:
        kind = self.random.random()
        if depth > 0 and kind < 0.35:
            return self.loop(depth)
        if depth > 0 and kind < 0.45:
            return self.ranged()
        if depth > 0 and kind < 0.53 and self.counters:
            condition = f"{self.random.choice(self.counters)} {self.pick('<', '>=', '==')} {self.random.randint(0, 4)}"
            other = f" else {self.block(depth)}" if self.random.random() < 0.4 else ""
            return f"if ({condition}) {self.block(depth)}{other}"
        if kind < 0.6:
            return self.named()
        return f"{self.assigned()};"

    def loop(self, depth: int) -> str:
        name = self.new("i")
        whole = self.pick("a.size()", "b.size()", "(int)u.size()")
        end = self.pick("n", "m", "n + 2", whole, *(f"{counter} + 1" for counter in self.small))
        head = self.pick(
            f"int {name} = 0; {name} < {end}; {name}++",
            f"int {name} = 1; {name} <= {end}; ++{name}",
            f"int {name} = {end}; {name} > 0; --{name}",
            f"int {name} = 0; {name} < {end}; {name} += 2",
        )
        self.counters.append(name)
        self.small += [name] * (end != whole)
        body = self.block(depth)
        self.counters.pop()
        del self.small[len(self.small) - (end != whole) :]
        return f"for ({head}) {body}"

    def ranged(self) -> str:
        name = self.new("e")
        self.reals.append(name)
        inside = f"{self.pick(name, 's')} {self.pick('+=', '*=', '=')} {self.value(2)};"
        self.reals.pop()
        return f"for ({self.pick('real&', 'auto&', 'auto')} {name} : {self.pick('u', 'w', 'p.v')}) {{ {inside} }}"

    def named(self) -> str:
        name = self.new("x")
        if self.random.random() < 0.4:
            self.reals.append("x")
            inside = self.value(2)
            self.reals.pop()
            function = f"auto {name} = [&](real x) {{ return {inside}; }};"
            return f"{{ {function} s += {name}({self.value(1)}); s -= {name}({self.value(0)}); }}"
        declared = f"{self.pick('real', 'const real')} {name} = {self.value(2)};"
        return f"{{ {declared} s {self.pick('+=', '*=', '/=')} {name}; }}"

    def assigned(self) -> str:
        return self.pick(
            f"{self.place()} {self.pick('=', '+=', '-=', '*=', '/=')} {self.value(2)}",
            f"a.scale({self.value(1)})",
            f"s += {self.pick('a', 'b')}.total()",
            f"s -= summed({self.pick('u', 'w')})",
            "p = p + q",
            f"q *= {self.value(1)}",
            "s += p.dot(q)",
        )

    # -- expressions -------------------------------------------------------------------------------

    def at(self) -> str:
        return self.pick("0", "1", "n", *self.small)

    def place(self) -> str:
        return self.pick("s", f"u[{self.at()}]", f"w[{self.at()}]", f"a.at({self.at()})", "p[1]", "q.v[0]")

    def value(self, depth: int) -> str:
        """One that computes: no operation is of constants alone, doubled or by 1."""
        if depth <= 0:
            return self.pick(self.random.choice(self.reals), self.place(), f"a.get({self.at()})", "p[0]")
        left = self.value(depth - 1)
        return self.pick(
            left,
            f"({left} {self.pick('+', '-', '*', '/')} {self.value(depth - 1)})",
            f"({left} {self.pick('+', '-', '*', '/')} {self.pick('1.5', '0.25')})",
            f"square({left})",
            f"a.blend({self.at()}, {left})",
            "p.dot(q)",
        )
