/// The error of a load that would wait for itself. Callers of the library get ``error(location:)`` instead.
@usableFromInline
struct LoadCycle: Error {
  @usableFromInline
  static func error(location: String) -> CisternError {
    CisternError(
      .cyclicLoad,
      "the fetch loads a key whose fetch waits for this one, so neither can end; load the key outside the fetch",
      location: location)
  }
}
