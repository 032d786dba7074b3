/// The number of writes of a key, modulo 2³². A value from the second tier may be promoted if the version has not
/// changed.
///
/// The version wraps around. A promotion that lasts for 2³² writes of its key could therefore store an older value.
@usableFromInline
struct WriteVersion: Sendable, Equatable {
  @usableFromInline var number: UInt32

  @inlinable
  init(number: UInt32) {
    self.number = number
  }

  /// Creates the version of a key from the writes of its group of keys and those of all keys at once.
  @inlinable
  init(ofGroup group: WriteVersion, ofAll all: WriteVersion) {
    number = all.number &+ group.number
  }

  /// The version before the first write.
  @inlinable
  static var zero: WriteVersion { WriteVersion(number: 0) }

  /// Counts a write.
  @inlinable
  mutating func raise() { number &+= 1 }
}
