<html><?php if (true): ?>
<b><?= $x ?></b>
<?php endif;

namespace Acme\Shop {
// class Ghost { function haunt() {} }
# function ghost2() {}
/* abstract class Ghost3 {} */
#[Attribute(Attribute::TARGET_CLASS)]
#[Entity(
    table: 'orders',
)]
abstract readonly class Order extends Base implements Shape, \Countable
{
    use HasName, HasId { HasName::go insteadof HasId; }

    final protected const int LIMIT = 3;
    private const SQL = <<<SQL
        class Fake { function run() {} }
        SQL;
    public static ?array $cache = [], $other;
    protected readonly int|string $id;

    public function __construct(
        private readonly Logger $log,
        #[Inject] protected ?Clock $clock = null,
    ) {
        $own = function () use ($log) { return 1; };
    }

    #[Pure]
    // between
    public static function &find(int ...$ids): static|null
    {
        return new class($ids) extends Other {
            public function hidden() {}
        };
    }
    abstract protected function total(): float;
    public function total2() { return match(true) { default => "function fake() {" }; }
    public function broken( {
    }
    public function after() {}
}
enum Suit: string implements HasLabel {
    case Hearts = 'H';
    const Wild = self::Hearts;
    public static function of(): self { return self::Hearts; }
}
trait HasId { abstract public function id(); private $x = 1; }
interface Shape { const A = 1, B = 2; public function area(); }
if (!function_exists('helper')) {
    function helper(string $x): string { return "{$x} function f() {"; }
}
const VERSION = '1';
}
namespace Acme\Other {
    function far() { static $n = 0; }
    final class Thing {}
}
