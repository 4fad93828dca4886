// class Ghost { void haunt() {} }
library acme;

import 'package:flutter/material.dart';

/// The app.
@immutable
class HomePage extends StatefulWidget {
  const HomePage({super.key, required this.title});
  final String title;
  static const sql = '''
    void fake() { }
  ''';
  @override
  State<HomePage> createState() => _HomePageState();
}

class _HomePageState extends State<HomePage> with TickerProviderStateMixin<HomePage> {
  late final AnimationController _controller;
  int? _counter = 0, _other;
  final Map<String, List<int>> cache = {'a': [1], "b": []};

  _HomePageState() : super() {
    final own = 1;
  }
  factory _HomePageState.of(BuildContext context) {
    return _HomePageState();
  }

  @override
  Widget build(BuildContext context) {
    final own = 'x ${context.x({'a': 1})} $title {';
    void tap() { setState(() { _counter = 1; }); }
    return Column(children: [for (var i in xs) Text('$i'), if (a) ...b]);
  }
  Future<List<T>> load<T extends Object>({int n = 1}) async {
    await for (final x in s) { yield x; }
  }
  Stream<int> count() async* { yield 1; }
  bool get isOn => true;
  set isOn(bool v) => _x = v;
  @override
  bool operator ==(Object other) => other is HomePage;
  static (int, String) pair() => (1, 'a');
  external void far();
}

sealed class Shape {}
enum Kind implements Comparable<Kind> {
  a('x'), b('y');
  const Kind(this.label);
  final String label;
  String describe() => switch (this) { Kind.a => 'a', _ => 'b' };
}
extension StringX on String? {
  String orEmpty() => this ?? '';
}
mixin Logging on Object {
  void log(String m) {}
}
typedef Json = Map<String, dynamic>;
@pragma('vm:entry-point')
void main() async {
  int local(int x) => x;
  runApp(const App());
}
const kLimit = 3;
final Map<String, int> table = {
  'a': 1,
};
