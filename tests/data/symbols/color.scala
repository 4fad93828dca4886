package com.acme

enum Color(val rgb: Int):
  case Red extends Color(1)
  case Green, Blue
  def f = 1

object Main:
  @main def run(args: String*): Unit =
    val own = 1
    println(own)

extension [T](x: List[T])
  def second: T = x(1)
  def third = 1

given intOrd: Ordering[Int] with
  def compare(a: Int, b: Int) = 1
def top = 1
val v = 2
opaque type Id = Int
type Alias = String
inline def fast = 1
