"""Finite fields: arithmetic among q numbers, q a power of a prime.

An element of the field of p^n is the number whose digits to the base p are the coefficients of a polynomial, lowest
first; polynomials are multiplied modulo an irreducible one of degree n.
"""

from __future__ import annotations

from itertools import product

from aspenpy.cost.network.low_diameter import prime_power
from aspenpy.record import Record

Polynomial = tuple[int, ...]


class Field(Record):
    """The field of p^n numbers from 0 on. `modulus` are the coefficients of its polynomial, the leading 1 left out."""

    prime: int
    degree: int
    modulus: Polynomial

    @property
    def order(self) -> int:
        return int(self.prime**self.degree)

    def add(self, left: int, right: int) -> int:
        pairs = zip(self._digits(left), self._digits(right), strict=True)
        return self._number([(a + b) % self.prime for a, b in pairs])

    def subtract(self, left: int, right: int) -> int:
        pairs = zip(self._digits(left), self._digits(right), strict=True)
        return self._number([(a - b) % self.prime for a, b in pairs])

    def multiply(self, left: int, right: int) -> int:
        """Horner's scheme: the sum so far times x, and what that carries beyond the highest power is taken away."""
        total = [0] * self.degree
        factors = self._digits(left)
        for digit in reversed(self._digits(right)):
            carried = total[-1]
            shifted = [0, *total[:-1]]
            total = [
                (part - carried * low + digit * factor) % self.prime
                for part, low, factor in zip(shifted, self.modulus, factors, strict=True)
            ]
        return self._number(total)

    def powers(self, element: int) -> list[int]:
        """1, the element, its square, ..., up to the first that is 1 again, or 0."""
        found = [1]
        while (following := self.multiply(found[-1], element)) not in (0, 1) and len(found) < self.order:
            found.append(following)
        return found

    def primitive_powers(self) -> list[int]:
        """The powers of the first element whose powers are all but 0."""
        return next(found for element in range(1, self.order) if len(found := self.powers(element)) == self.order - 1)

    def _digits(self, element: int) -> list[int]:
        digits = []
        for _ in range(self.degree):
            element, digit = divmod(element, self.prime)
            digits.append(digit)
        return digits

    def _number(self, digits: list[int]) -> int:
        number = 0
        for digit in reversed(digits):
            number = number * self.prime + digit
        return number


def field(order: int) -> Field:
    """The field of so many numbers. Raises ValueError unless that is a prime power."""
    found = prime_power(order)
    if found is None:
        raise ValueError(f"there is no field of {order} numbers: that is no power of a prime")
    prime, degree = found
    if degree == 1:
        return Field(prime, 1, (0,))
    candidates = (Field(prime, degree, modulus) for modulus in product(range(prime), repeat=degree))
    return next(candidate for candidate in candidates if _has_x_for_generator(candidate))


def _has_x_for_generator(candidate: Field) -> bool:
    """Whether the powers of x are all but 0: the modulus is then irreducible, and primitive."""
    return len(candidate.powers(candidate.prime)) == candidate.order - 1
