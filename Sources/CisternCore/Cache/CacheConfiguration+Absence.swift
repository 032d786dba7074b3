extension CacheConfiguration where Value: OptionalValue {
  /// The lifetime of known absence; nil for the lifetime of other values.
  ///
  /// Usually it is shorter, because a missing value may come soon. A write with its own expiry does not use it.
  public var absenceExpiry: Expiry? {
    get { absenceRule?.expiry }
    set { absenceRule = newValue.map { AbsenceRule(absence: Absence(), expiry: $0) } }
  }
}

extension CacheConfiguration {
  /// The expiry of a value, from the value itself. An absent value has one, too.
  var expiryFromValue: (@Sendable (Value) -> Expiry?)? {
    guard let absenceRule else { return expiryOfValue }
    return { [expiryOfValue] value in
      absenceRule.absence.isAbsent(value) ? absenceRule.expiry : expiryOfValue?(value)
    }
  }
}
