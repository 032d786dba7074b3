/// The measured kinds of keys: numbers, and strings of 20 bytes, which are allocated on the heap.
package protocol BenchmarkKey: Hashable, Sendable {
  /// The name in tables.
  static var title: String { get }
  /// Returns the key of a rank. Adjacent ranks do not give adjacent values. Each call creates a new string.
  static func key(_ rank: Int) -> Self
}

extension Int: BenchmarkKey {
  package static var title: String { "Int" }

  package static func key(_ rank: Int) -> Int {
    Int(truncatingIfNeeded: (UInt64(rank) &* 0x9E37_79B9_7F4A_7C15) >> 20)
  }
}

extension String: BenchmarkKey {
  package static var title: String { "String of 20 bytes" }

  package static func key(_ rank: Int) -> String {
    let digits = String(Int.key(rank))
    return "user/" + String(repeating: "0", count: 15 - digits.utf8.count) + digits
  }
}
