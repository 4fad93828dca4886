"""The named parts of files in the languages that have realistic files in `data/symbols`, and in wrong ones."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from memento_git.code.docstrings import said
from memento_git.code.grammars import ENDINGS, GRAMMARS
from memento_git.code.symbols import symbols
from memento_git.model.anchors import parse

pytest.importorskip("tree_sitter_language_pack")

FILES: Final = Path(__file__).parent / "data" / "symbols"
EXPECTED: Final = {
    "color.scala": """
        Color:3-6 Color.f:6 Main:8-11 Main.run:9-11 second:14 third:15 intOrd:17-18
        intOrd.compare:18 top:19 v:20 Id:21 Alias:22 fast:23
    """,
    "order.cs": """
        Order:7-52 Order.Sql:11 Order.Raw:12-14 Order.Name:15 Order.LoadAsync:16-21
        Order.LoadAsync.Twice:19 Order.OnlyNet8:23 Order.OnlyOld:25 Order.Get:27-30,31
        Order.Changed:32 Order.Hook:33 Order.this:34 Order.operator==:35 Order.operator:36
        Order.Numbers:37 Order.Pointer:38 Order.class:39 Order.other:39 Order.Order:40
        Order.~Order:41 Order.Gone:42 Order.Count:44 Order.State:45 Order.Item:46 Order.Item.Deep:46
        Order.Item.Deep.x:46 Order.IPart:47 Order.IPart.Size:47 Order.IPart.Weigh:47 Order.Old:48-50
        Order.AfterBroken:51 Money:54 Maker:55 Kind:56-57
    """,
    "order.kt": """
        Html:5-6 LOG:8 Context.get:9-18 Context.get.onClick:16 Order:20-81 Order.size:25-26
        Order.name:28-32 Order.handler:34-36 Order.handler.handle:35 Order.lazyOne:37-40
        Order.init:42-44 Order.constructor:46-48 Order.adds_two_numbers_and_says_so:50-53
        Order.load:55 Order.equals:56 Order.get:57 Order.V.and:58 Order.Factory:59-63
        Order.Factory.make:60-61 Order.Factory.TAG:62 Order.Kind:64-74 Order.Kind.run:67,70
        Order.Kind.of:72 Order.Result:75-78 Order.Result.Ok:76 Order.Result.None:77
        Order.broken:79-80 Id:82-83 main:84 main.nested:84 Handler2:85 Act:86-88 Act.run:87
        List.second:89
    """,
    "order.lua": """
        class:4 Order:5 sql:6 Order.initialize:12-18 Order.initialize.step:15 Order.new:19
        Order.total:20 Order.handlers:22-27 Order.handlers.click:23 Order.handlers.nested:25
        Order.handlers.nested.deep:25 a:28 b:28 helper:30 hidden:32 Order.inner.deep:33 GLOBAL:35
        Order.y:36 x:36
    """,
    "order.ml": """
        order:6-10 expr:12-14 sql:16 total:18-23 other:24-26 Store:33-37 Store.t:34 Store.add:35
        Store.Missing:36 Make:39-45 Make.t:40 Make.add:41 Make.Deep:42-44 Make.Deep.go:43 A:47
        A.t:47 B:48 B.t:48 shape:50-55 shape.area:52 shape.describe:53 shape.hidden:54 far:56
    """,
    "order.php": """
        Order:9-44 Order.LIMIT:17 Order.SQL:18-20 Order.cache:21 Order.other:21 Order.id:22
        Order.__construct:24-29 Order.find:31-38 Order.find.hidden:36 Order.total:39 Order.total2:40
        Order.broken:41-42 Order.after:43 Suit:45-49 Suit.Wild:47 Suit.of:48 HasId:50 HasId.id:50
        HasId.x:50 Shape:51 Shape.A:51 Shape.B:51 Shape.area:51 helper:53 VERSION:55 far:58 Thing:59
    """,
    "order.scala": """
        Order:4-36,38-44 Order.Sql:8 Order.text:9 Order.count:10 Order.loop:11-16 Order.loop.step:14
        Order.load:17-20,21 Order.ord:22-25 Order.ord.hidden:23 Order.ord.compare:24
        Order.handler:26-29 Order.unary_!:31 Order.type:32 Order.broken:33-34 Order.afterBroken:35
        Order.Item:39 Order.Item.total:39 Order.Keys:40 Order.Keys.A:40 Order.Id:41 Order.Default:42
        Order.unapply:43 Shape:45 Shape.Out:45 Shape.area:45 Shape.scale:45 Shape.sides:45
    """,
    "order.zig": """
        std:3 Order:6-20 Order.sql:9-11 Order.init:12-16 Order.len:17 Order.Error:18 Order.Kind:19
        Order.Kind.name:19 Queue:21-29 Queue.Self:23 Queue.push:24-27 Queue.push.less:25 add:30
        far:31 counter:32 tl:33 alias:35 after:36
    """,
    "page.dart": """
        HomePage:7-16 HomePage.HomePage:9 HomePage.title:10 HomePage.sql:11-13
        HomePage.createState:14-15 _HomePageState:18-46 _HomePageState._controller:19
        _HomePageState._counter:20 _HomePageState._other:20 _HomePageState.cache:21
        _HomePageState._HomePageState:23-25 _HomePageState.of:26-28 _HomePageState.build:30-35
        _HomePageState.load:36-38 _HomePageState.count:39 _HomePageState.isOn:40,41
        _HomePageState.operator==:42-43 _HomePageState.pair:44 _HomePageState.far:45 Shape:48
        Kind:49-54 Kind.Kind:51 Kind.label:52 Kind.describe:53 StringX:55-57 StringX.orEmpty:56
        Logging:58-60 Logging.log:59 Json:61 main:62-66 kLimit:67 table:68-70
    """,
    "shop.ex": """
        Acme.Shop:2-37 Acme.Shop.add:10-15,17 Acme.Shop.none:18 Acme.Shop.valid?:19
        Acme.Shop.helper!:20 Acme.Shop.__using__:23-27 Acme.Shop.__using__.injected:25
        Acme.Shop.is_big:28 Acme.Shop.size:29 Acme.Shop.Inner:30-32 Acme.Shop.Inner.deep:31
        Acme.Shop.handle_call:33-36 Shape:38-41,45-47 Shape.area:39-40,46 Shape.Acme.Shop:42-44
        Shape.Acme.Shop.area:43
    """,
    "view.swift": """
        ContentView:3-46 ContentView.count:5 ContentView.isOn:6 ContentView.scheme:7
        ContentView.text:8-10 ContentView.pattern:11 ContentView.body:12-19
        ContentView.body.inner:18 ContentView.onlyPhone:21 ContentView.onlyMac:23
        ContentView.load:25-29 ContentView.==:30 ContentView.-:31 ContentView.subscript:32
        ContentView.cached:33-36 ContentView.observed:37-40 ContentView.init:41,42
        ContentView.CodingKeys:43 ContentView.Item:44 ContentView.Nested:45
        ContentView.Nested.Deep:45 ContentView.Nested.Deep.go:45 ContentView.more:48
        ContentView.shared:49 ContentView.Added:50 ContentView.Nested.hash:52 Store:53-58
        Store.count:55 Store.default:56 Store.init:57 Tree:59 Tree.depth:59 top:60 Bank:62
        Bank.deinit:62 Bank.money:62 After:63 After.ok:63
    """,
}
SAMPLES: Final = sorted(FILES.iterdir())


def names(path: str, code: str) -> set[str]:
    return set(symbols(path, code.encode()).ranges)


def spelled(path: Path) -> dict[str, str]:
    """Return name -> its lines, each as one of them is typed."""
    return {
        name: ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)
        for name, ranges in symbols(path.name, path.read_bytes()).ranges.items()
    }


@pytest.mark.parametrize("path", SAMPLES, ids=[path.name for path in SAMPLES])
def test_a_realistic_file_has_its_parts_and_none_of_what_only_looks_like_one(path: Path) -> None:
    told = dict(one.rsplit(":", 1) for one in EXPECTED[path.name].split())
    assert spelled(path) == told
    assert all(parse(f"x::{name}").symbol == name for name in told), "each can be typed"


@pytest.mark.parametrize(
    ("path", "code", "expected"),
    [
        ("a.cs", "namespace A.B;\nclass C { public C() { } }\nrecord D(int X);\n", {"C", "C.C", "D"}),
        ("a.cs", "namespace A { namespace B { class C { void F() { } } } }\n", {"C", "C.F"}),
        ("a.cs", "using X;\nvar own = 1;\nvoid Top() { }\nreturn Top();\n", {"Top"}),
        ("a.cs", "partial class C { int a; }\npartial class C { int b { get; } }\n", {"C", "C.a", "C.b"}),
        ("a.php", "just text, function f() {}\n", set()),
        ("a.php", "<?php\n$f = function () { function g() {} };\nconst A = 1;\n", {"g", "A"}),
        ("a.php", "<?php class A { public $b; public static function b() { static $c = 1; } }\n", {"A", "A.b"}),
        ("a.kt", "class A {\n  companion object { val B = 1; fun c() = 1 }\n}\n", {"A", "A.B", "A.c"}),
        ("a.kt", "fun a.b.C<Int>.d(): Int {\n  val own = 1\n  return own\n}\n", {"a.b.C.d"}),
        ("a.kt", "fun (Int.() -> Unit).f() = 1\nval (a, b) = c\n", {"f", "a", "b"}),
        ("a.kts", "plugins { id(1) }\nval a = 1\ntasks.register(2) { val own = 1 }\n", {"a"}),
        ("a.swift", "let (a, b) = (1, 2)\nlet c = 3, d = 4\nif true { let own = 1 }\n", {"a", "b", "c", "d"}),
        ("a.swift", "extension Array<Int>: P { func f() {} }\nextension A.B { var c: Int { 1 } }\n",
         {"Array.f", "A.B.c"}),
        ("a.swift", "class A {\n#if os(iOS)\n  func b() {}\n#elseif X\n  var c = 1\n#else\n  init() {}\n  #endif\n}\n",
         {"A", "A.b", "A.c", "A.init"}),
        ("a.swift", "struct A<T> { static func < (a: A, b: A) -> Bool { true } }\n", {"A", "A.<"}),
        ("a.scala", "object A { val (b, c) = (1, 2); var d, e = 3; val f = b }\n",
         {"A", "A.b", "A.c", "A.d", "A.e", "A.f"}),
        ("a.scala", "object A { def ::(x: Int) = 1; def +(x: Int) = 2; val Some(b) = c }\n", {"A", "A.+", "A.b"}),
        ("a.sc", "val a = 1\n", set()),
        ("a.lua", "return { a = 1, b = function() local own = 1 end, c = { d = function() end } }\n",
         {"b", "c", "c.d"}),
        ("a.lua", "local function a() return { b = function() end } end\nlocal c = {}\nc.d = 1\n", {"a", "c"}),
        ("a.dart", "typedef int Old(int a);\ntypedef New<T> = T Function();\nclass A = B with C;\n",
         {"Old", "New", "A"}),
        ("a.dart", "class A { A._(); const A.b(); factory A.c() = D; int operator [](int i) => 1; }\n",
         {"A", "A._", "A.b", "A.c", "A.operator"}),
        ("a.dart", "int f() { int g() => 1; var own = 2; return g(); }\n", {"f"}),
        ("a.zig", "const A = struct { b: u8, fn c() void {} };\ntest { }\n", {"A", "A.c"}),
        ("a.ml", "let a = let own = 1 in own\nlet () = ()\nlet (b, _) = c\nlet d, e = f\n", {"a", "d", "e"}),
        ("a.ml", "module M = struct module N = struct let f x = x end end\nlet ( + ) = 1\n", {"M", "M.N", "M.N.f"}),
        ("a.ex", "defmodule A do\n  defp b(x) when x > 1, do: x\n  def unquote(c)(), do: 1\nend\n", {"A", "A.b"}),
        ("a.exs", "defimpl P, for: [A, B] do\n  def f(x), do: x\nend\nIO.puts(1)\n", {"P", "P.f"}),
    ],
)  # fmt: skip
def test_a_part_has_one_name_that_can_be_typed(path: str, code: str, expected: set[str]) -> None:
    assert names(path, code) == expected


@pytest.mark.parametrize(
    ("path", "code", "name", "lines"),
    [
        ("a.cs", "class A {\n  [Obsolete]\n  [Pure]\n  int B() => 1;\n}\n", "A.B", (2, 4)),
        ("a.php", "<?php\nclass A {\n  #[Route('/')]\n  #[Pure]\n  function b() {\n  }\n}\n", "A.b", (3, 6)),
        ("a.kt", "\n@Test\n@Slow(1)\nfun a() {\n}\n", "a", (2, 5)),
        ("a.kt", "class A {\n  var b: Int\n    get() = 1\n    set(x) {\n    }\n  val c = 1\n}\n", "A.b", (2, 5)),
        ("a.swift", "\n@MainActor\n@available(iOS 13, *)\nclass A {}\n", "A", (2, 4)),
        ("a.scala", "class A {\n  @tailrec\n  final def b = {\n  }\n}\n", "A.b", (2, 4)),
        ("a.scala", "object A:\n  def b =\n    1\n\n\nobject C\n", "A", (1, 3)),
        ("a.dart", "class A {\n  @override\n  @a(1)\n  int b() {\n    return 1;\n  }\n}\n", "A.b", (2, 6)),
        ("a.dart", "@a\nfinal Map<String, int>\n    b = {\n};\n", "b", (1, 4)),
        ("a.ex", "defmodule A do\n  @b 1\n  @doc false\n  @spec c() :: 1\n  def c, do: 1\nend\n", "A.c", (3, 5)),
        ("a.lua", "local M = {}\nM.a = function()\n  return 1\nend\n", "M.a", (2, 4)),
    ],
)  # fmt: skip
def test_what_marks_a_part_is_part_of_it(path: str, code: str, name: str, lines: tuple[int, int]) -> None:
    assert symbols(path, code.encode()).ranges[name] == (lines,)


@pytest.mark.parametrize("language", GRAMMARS)
def test_no_language_stumbles_over_garbage(language: str) -> None:
    ending = next(ending for ending, named in ENDINGS.items() if named == language)
    for data in (b"", b"\0\xff\xfe", b"((((" * 500, b"class A {" * 300, b"def def def\n", b"x = '", b"\n" * 50, b"/* "):
        found = symbols(f"a.{ending}", data)
        assert not found.problem
        assert isinstance(said(f"a.{ending}", data), list)


@pytest.mark.parametrize("path", SAMPLES, ids=[path.name for path in SAMPLES])
def test_half_of_a_file_has_parts_within_it(path: Path) -> None:
    data = path.read_bytes()
    for cut in range(0, len(data), 97):
        part = data[:cut]
        for ranges in symbols(path.name, part).ranges.values():
            assert all(1 <= first <= last <= part.count(b"\n") + 1 for first, last in ranges)
        said(path.name, part)
