/// The permitted uses of a stale value.
@usableFromInline
struct StaleUses: Sendable, Hashable {
  /// Whether a load may return the value while a refresh runs in the background.
  @usableFromInline var whileRevalidate = true
  /// Whether a load may return the value because its fetch failed or takes too long.
  @usableFromInline var ifError = true
  /// Whether a load that may return the value if its fetch fails returns it without a fetch during a pause.
  @usableFromInline var insteadOfFetch = true

  @usableFromInline
  init(whileRevalidate: Bool = true, ifError: Bool = true) {
    self.whileRevalidate = whileRevalidate
    self.ifError = ifError
  }
}
