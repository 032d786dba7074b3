/// What is given beside a value that is to be stored.
@usableFromInline
struct Storing: Sendable {
  /// Its lifetime; nil for what the value itself or the cache says.
  @usableFromInline let expiry: Expiry?
  /// What it can be removed by, with others.
  @usableFromInline let tags: [String]

  @inlinable
  init(expiry: Expiry? = nil, tags: [String] = []) {
    self.expiry = expiry
    self.tags = tags
  }
}
