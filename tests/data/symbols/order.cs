global using System.Linq;
#nullable enable
namespace Acme.Shop
{
#region Orders
    /* class Ghost { void Haunt() {} } */
    public abstract class Order<TKey, TItem>(int id, ILogger log) : Base(id), IOrder<TKey>
        where TKey : notnull
        where TItem : class, new()
    {
        private const string Sql = @"class Fake { void Run() { } }";
        private static readonly string Raw = """
            public void AlsoFake() { }
            """;
        public required string Name { get; init; }
        protected internal virtual async Task<Dictionary<string, List<int>>> LoadAsync(CancellationToken token = default)
        {
            await foreach (var x in Items()) { yield return $"{x} { (x > 1 ? "{" : "}") }"; }
            int Twice(int n) => n * 2;
            Func<int, int> square = static n => n * n;
        }
#if NET8_0
        public void OnlyNet8() { }
#else
        public void OnlyOld() { }
#endif
        [HttpGet("/x"), Authorize]
        [return: NotNull]
        // between
        public string Get(int id) => id switch { 1 => "a", _ => throw new Exception() };
        public string Get(string id) { return id; }
        public event Action<int>? Changed;
        partial void Hook();
        public int this[string key] { get { return 1; } set { } }
        public static bool operator ==(Order<TKey, TItem> a, Order<TKey, TItem> b) => true;
        public static implicit operator string(Order<TKey, TItem> a) => "";
        public int[] Numbers => [1, 2, .. Others];
        unsafe int* Pointer(int* p) { return p; }
        public int @class, other;
        static Order() { }
        ~Order() { }
        public event EventHandler Gone { add { } remove { } }
        /// Counts what is there.
        int IOrder<TKey>.Count(int x) => x;
        public enum State { Open, [Obsolete] Closed = 3 }
        private protected class Item { struct Deep { int x; } }
        public interface IPart { int Weigh(int x); int Size { get; } }
        void Old() {
            broken(
        }
        public void AfterBroken() { }
    }
#endregion
    public readonly record struct Money(decimal Amount, string Currency);
    internal delegate TResult Maker<in T, out TResult>(T input);
    [Flags]
    enum Kind : byte { A = 1, B }
}
