package com.acme.shop

/* class Ghost { /* def haunt = 1 */ } */
sealed abstract class Order[F[_]: Monad, +A <: Base](val id: Int)(implicit ec: ExecutionContext)
    extends Base[F](id)
    with Shape { self: Logger =>

  private[shop] val Sql = """class Fake { def run = 1 }"""
  val text = s"${if (true) "def fake = {" else "}"} $id"
  @volatile private var count: Int = 0
  @tailrec
  final def loop(n: Int): Int = {
    val own = n
    def step(x: Int) = x
    if (n > 0) loop(n - 1) else own
  }
  override def load[B >: A](x: B)(implicit m: M[B]): F[B] = for {
    a <- fa
    b = a + 1
  } yield b
  def load(x: String): Unit = ()
  implicit val ord: Ordering[Int] = new Ordering[Int] {
    val hidden = 1
    def compare(a: Int, b: Int) = 1
  }
  val handler: PartialFunction[Any, Unit] = {
    case x: Int =>
      val own = 1
  }
  def ::(x: Int) = this
  def unary_! : Boolean = true
  def `type` = 1
  def broken( = {
  }
  def afterBroken = 1
}

object Order {
  case class Item(name: String, n: Int = 1) { def total = n }
  private object Keys { val A = 1 }
  type Id = Int
  lazy val Default: Order = null
  def unapply(x: Order): Option[Int] = None
}
trait Shape { type Out; val sides: Int; def area: Double; protected def scale(x: Double): Double = x }
