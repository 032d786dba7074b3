import CisternCore

/// A random number that a store's data file shares with its mark. A data file with another number belongs to
/// another store.
///
/// Each new data file gets a new identity. A copy of a file has the same identity, so a store can be copied with
/// both files.
struct StoreIdentity: Equatable, Sendable {
  private let high: UInt64
  private let low: UInt64

  /// Creates a random identity.
  init() {
    var generator = SystemRandomNumberGenerator()
    high = generator.next()
    low = generator.next()
  }

  /// Creates the identity with the given ``text``, or returns nil if the text has another form.
  init?(_ text: Substring) {
    guard text.utf8.count == StoreIdentity.textLength, let high = UInt64(text.prefix(16), radix: 16),
      let low = UInt64(text.suffix(16), radix: 16)
    else { return nil }
    self.high = high
    self.low = low
    if self.text != text { return nil }
  }

  /// The identity as 32 hexadecimal digits.
  var text: String { StoreIdentity.digits(high) + StoreIdentity.digits(low) }

  static let textLength = 32

  private static func digits(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
