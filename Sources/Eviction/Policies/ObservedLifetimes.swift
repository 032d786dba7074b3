/// The observations of a shard that it has not handed over to ``CacheLifetimes``.
///
/// If the buffer is full, further lifetimes are not recorded. The recorded ones are then a sample.
struct ObservedLifetimes: ~Copyable {
  /// The end of a lifetime.
  struct Lifetime: Equatable {
    /// The classes of uses and of ages: see ``LifetimeClass/index(uses:age:)``.
    let index: Int
    /// Whether the lifetime ended with a use.
    let endsWithUse: Bool
  }

  static let capacity = 64
  /// The number of lifetimes from which on the shard hands over at its next insertion.
  static let enough = 32

  /// The index of each lifetime, and ``useMark`` if it ended with a use.
  private var lifetimes = InlineArray<64, UInt16>(repeating: 0)
  private(set) var count = 0
  /// The evicted entries: their number, and the sum of their densities.
  private(set) var evicted = (count: Float(0), densities: Float(0))

  private static let useMark: UInt16 = 0x8000

  /// Records a use of an entry with this number of earlier uses.
  mutating func noteUse(after uses: UInt8, age: UInt32) {
    note(UInt16(truncatingIfNeeded: LifetimeClass.index(uses: uses, age: age)) | Self.useMark)
  }

  /// Records the end of a lifetime without a use.
  mutating func noteEnd(after uses: UInt8, age: UInt32) {
    note(UInt16(truncatingIfNeeded: LifetimeClass.index(uses: uses, age: age)))
  }

  /// Records the eviction of an entry with this density.
  mutating func noteEviction(of density: Float) {
    evicted.count += 1
    evicted.densities += density
  }

  private mutating func note(_ lifetime: UInt16) {
    guard count < Self.capacity else { return }
    lifetimes[count] = lifetime
    count += 1
  }

  /// Passes all lifetimes to `body`, and empties the buffer.
  mutating func removeAll(_ body: (Lifetime) -> Void) {
    for place in 0..<count {
      let lifetime = lifetimes[place]
      body(Lifetime(index: Int(lifetime & ~Self.useMark), endsWithUse: lifetime & Self.useMark != 0))
    }
    count = 0
    evicted = (0, 0)
  }
}
