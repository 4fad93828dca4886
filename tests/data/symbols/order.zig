//! Shop.
// fn ghost() void {}
const std = @import("std");
/// An order.
/// It has items.
pub const Order = struct {
    items: std.ArrayList(u8),
    id: u32 = 0,
    const sql =
        \\ fn fake() void { }
    ;
    pub fn init(allocator: std.mem.Allocator) !Order {
        const own = 1;
        var x: u8 = 2;
        return Order{ .items = undefined };
    }
    pub inline fn len(self: Order) usize { return if (self.id > 0) 1 else 0; }
    pub const Error = error{ OutOfMemory, Bad };
    const Kind = union(enum) { a: u8, b, fn name(self: Kind) []const u8 { return "x {"; } };
};
pub fn Queue(comptime T: type) type {
    return struct {
        const Self = @This();
        pub fn push(self: *Self, x: T) void {
            const Inner = struct { fn less() bool { return true; } };
            _ = x;
        }
    };
}
export fn add(a: i32, b: i32) i32 { return a + b; }
extern "c" fn far(x: c_int) c_int;
pub var counter: usize = 0;
threadlocal var tl: u8 = 0;
comptime { const own = 1; }
const alias = std.mem.eql;
fn after() void {}
test "adds" { const own = 1; try std.testing.expect(true); }
