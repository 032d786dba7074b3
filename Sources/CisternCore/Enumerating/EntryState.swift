/// The data of an entry besides its key and its tiers.
@usableFromInline
struct EntryState: Sendable {
  @usableFromInline var cost: Int
  @usableFromInline var age: Duration?
  @usableFromInline var remainingLifetime: Duration?
  @usableFromInline var isStale = false
  /// The tags, or nil for none.
  @usableFromInline var tags: [String]?

  @inlinable
  init(cost: Int, age: Duration?) {
    self.cost = cost
    self.age = age
  }
}
