/// Kinds of key that are measured: numbers, and strings of 20 bytes, which have storage of their own.
package protocol BenchmarkKey: Hashable, Sendable {
  /// What a table calls it.
  static var title: String { get }
  /// The key of a rank. Neighbours in rank are not neighbours in value. A string is made anew by each call.
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
