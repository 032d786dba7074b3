extension Duration {
  /// An interval that does not end during a test, however slow the machine is.
  package static let unreachable = Duration.seconds(10_000_000)
}
