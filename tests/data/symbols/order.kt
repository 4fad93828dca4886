#!/usr/bin/env kotlin
package com.acme

/* class Ghost { /* fun haunt() {} */ } */
@DslMarker
annotation class Html

private val LOG = logger {}
internal inline fun <reified T : Any> Context.get(crossinline block: T.() -> Unit): T where T : Comparable<T> {
    val text = "${if (true) "fun fake() {}" else "}"} $LOG"
    val raw = """
        fun alsoFake() { }
    """
    return object : T() {
        val hidden = 1
        override fun onClick() {}
    }
}

abstract class Order<K : Any, V>(
    private val id: K,
    @Inject val log: Logger? = null,
) : Base(id), Shape by log, List<V> where V : Comparable<V> {

    val size: Int
        get() = items.size

    var name: String = ""
        private set(value) {
            val own = 1
            field = value
        }

    private val handler = object : Handler {
        override fun handle() {}
    }
    val lazyOne by lazy {
        val own = 2
        own
    }

    init {
        val own = 3
    }

    constructor(id: K, n: Int) : this(id) {
        val own = 4
    }

    @Test
    @DisplayName("x")
    fun `adds two numbers, and says so`() {
    }

    protected abstract suspend fun load(): Map<String, List<V>>
    override fun equals(other: Any?): Boolean = other is Order<*, *> && id == other.id
    operator fun get(i: Int): V = TODO()
    infix fun V.and(o: V) = 1
    companion object Factory : Maker {
        @JvmStatic
        fun make() = 1
        private const val TAG = "x"
    }
    enum class Kind(val n: Int) {
        A(1),
        B(2) {
            override fun run() {}
        };

        abstract fun run()
        companion object {
            fun of(n: Int) = A
        }
    }
    sealed class Result<out T> {
        data class Ok<T>(val value: T) : Result<T>()
        data object None : Result<Nothing>()
    }
    fun broken( {
    }
}
@JvmInline
value class Id(val v: Int)
fun main() = runBlocking { launch { fun nested() {} } }
typealias Handler2<T> = suspend (T) -> Unit
fun interface Act<T> {
    fun run(x: T)
}
val <T> List<T>.second: T
    get() = this[1]
