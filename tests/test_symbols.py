"""The named parts of files in languages other than Python."""

from __future__ import annotations

import pytest

from memento_git.code.symbols import symbols

pytest.importorskip("tree_sitter_language_pack")


def ranges(path: str, code: str) -> dict[str, tuple[tuple[int, int], ...]]:
    return dict(symbols(path, code.encode()).ranges)


@pytest.mark.parametrize(
    ("path", "code", "names"),
    [
        ("a.ts", "export const tax = (n: number) => {\n  const own = n;\n  return own;\n};\n", {"tax"}),
        ("a.ts", "describe('a', () => {\n  const own = 1;\n  it('b', function () { let own2 = 2; });\n});\n", set()),
        ("a.ts", "class A {\n  go = () => { const own = 1; };\n}\n", {"A", "A.go"}),
        ("a.ts", "declare module 'm' {\n  export function far(): void;\n}\n", {"m", "m.far"}),
        ("a.js", "exports.a = function () { const own = 1; };\nmodule.exports.b = () => 1;\n", {"a", "b"}),
        ("a.js", "P.prototype.c = function () {};\nP.D = class {};\n", {"P.c", "P.D"}),
        ("a.js", "module.exports = () => 1;\nexports.n = 1;\nthis.o = () => 1;\nf(() => { x.y = () => 1; });\n", set()),
        ("a.go", "package a\n\ntype B interface {\n\tDo() error\n}\n", {"B", "B.Do"}),
        ("a.go", "package a\n\nfunc (g *G[K, V]) Get() V { return g.v }\n", {"G.Get"}),
        ("a.go", "package a\n\nvar x, y = 1, 2\nvar f = func() { var own = 1; _ = own }\n", {"x", "y", "f"}),
        ("a.rs", "impl a::T for b::Pot<u8> {\n    fn f(&self) {\n        const OWN: u8 = 1;\n    }\n}\n", {"Pot.f"}),
        ("a.rs", "impl<'a> T for &'a mut Pot {\n    fn f(&self) {}\n}\n", {"Pot.f"}),
        (
            "a.rs",
            "impl T for (A, B) {\n    fn f(&self) {}\n}\nimpl dyn T {\n    fn g(&self) {}\n}\n",
            {"(A,B).f", "T.g"},
        ),
        ("a.cpp", "template <class T> void a::V<std::pair<T, int>>::f() {}\n", {"a.V.f"}),
        ("a.cpp", "bool a::operator<(int b, int c) { return true; }\n", {"a.operator<"}),
    ],
)
def test_a_part_has_one_name_that_can_be_typed(path: str, code: str, names: set[str]) -> None:
    assert ranges(path, code).keys() == names


@pytest.mark.parametrize(
    ("path", "code", "name", "lines"),
    [
        ("a.ts", "\n@Component({\n  a: 1,\n})\nexport class A {}\n", "A", (2, 5)),
        ("a.ts", "class A {\n  b = 1;\n  @Get('/x')\n  @Auth()\n  x() {}\n}\n", "A.x", (3, 5)),
        ("a.rs", "const A: u8 = 1;\n#[derive(Debug)]\n#[repr(C)]\npub struct B {}\n", "B", (2, 4)),
    ],
)
def test_what_marks_a_part_is_part_of_it(path: str, code: str, name: str, lines: tuple[int, int]) -> None:
    assert ranges(path, code)[name] == (lines,)


def test_what_is_defined_more_than_once_is_told_in_order() -> None:
    code = "export function a(x: string): void;\nexport function a(x: number): void;\nexport function a(x: any) {}\n"
    assert ranges("a.ts", code) == {"a": ((1, 1), (2, 2), (3, 3))}
    code = "impl A for C {\n    fn f(&self) {}\n}\nimpl B for C {\n    fn f(&self) {}\n}\n"
    assert ranges("a.rs", code) == {"C.f": ((2, 2), (5, 5))}
