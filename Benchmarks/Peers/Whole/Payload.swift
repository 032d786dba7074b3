import Workloads

/// The values of the origin: the bytes of a key's number, followed by a filling, 1 to 16 KiB in total.
enum Payload {
  static let largest = 16 << 10

  /// Returns the number of a key that `BenchmarkKey` created.
  static func number(ofKey key: some StringProtocol) -> Int? { Int(key.dropFirst("user/".count)) }

  static func size(_ number: Int) -> Int { 1_024 + number % (largest - 1_023) }

  /// Checks that the value belongs to the key.
  static func check(_ value: [UInt8], ofKey key: String) {
    guard let number = number(ofKey: key), value.count == size(number),
      value.prefix(8).reduce(0, { $0 << 8 | Int($1) }) == number
    else { Whole.fail("the value of \(key) is of another key") }
  }
}
