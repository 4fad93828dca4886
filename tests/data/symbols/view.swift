import SwiftUI
/* class Ghost { /* func haunt() {} */ } */
@MainActor
public struct ContentView<Content: View>: View {
    @State private var count = 0
    @Binding var isOn: Bool
    @Environment(\.colorScheme) private var scheme
    private let text = """
        func fake() { }
        """
    let pattern = #"func { "# 
    var body: some View {
        VStack {
            let own = 1
            ForEach(items) { item in Text("\(item.name) { ") }
            if let count { Text("x") }
        }
        .onAppear { func inner() {} }
    }
    #if os(iOS)
    func onlyPhone() {}
    #else
    func onlyMac() {}
    #endif
    nonisolated func load<T>(_ x: T) async throws -> [String: [T]] where T: Sendable {
        async let own = fetch()
        guard let other = own else { return [:] }
        return other
    }
    static func == (lhs: Self, rhs: Self) -> Bool { true }
    prefix static func - (x: Self) -> Self { x }
    subscript<T>(key: Key<T>) -> T? { get { nil } set { } }
    private(set) lazy var cached: Int = {
        let own = 1
        return own
    }()
    var observed: Int = 0 {
        willSet { print(newValue) }
        didSet { let own = 2 }
    }
    init(@ViewBuilder content: () -> Content) { }
    init?(coder: NSCoder) { return nil }
    enum CodingKeys: String, CodingKey { case a, b }
    typealias Item = String
    struct Nested { class Deep { func go() {} } }
}
private extension ContentView where Content == Text {
    func more() {}
    static let shared = 1
    struct Added {}
}
extension ContentView.Nested: @retroactive Hashable { func hash() {} }
protocol Store<Item>: AnyObject {
    associatedtype Item
    var count: Int { get set }
    func `default`(_ x: Item)
    init()
}
indirect enum Tree<T> { case leaf, node(Tree<T>); func depth() -> Int { 1 } }
func top<T: P>(_ f: @escaping (T) -> Void = { _ in }) rethrows { }
#Preview { ContentView() }
actor Bank { var money = 0; deinit { } }
class After { func ok() {} }
