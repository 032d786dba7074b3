/// The error of a load whose fetch found that the origin has no value.
///
/// Callers of the library get nil, or ``CisternError/Code/noValue``.
@usableFromInline
struct AbsentValue: Error {
  @usableFromInline
  init() {}

  /// The error for callers whose load returns a value.
  @usableFromInline
  static func error(location: String) -> CisternError {
    CisternError(
      .noValue, "another caller's fetch found that the origin has no value for this key", location: location)
  }
}
