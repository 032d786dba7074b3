extension Property {
  /// An enumeration returns no key twice. It returns a key that has a value during the whole enumeration, and no key
  /// that has none.
  static let enumerationsAgree = Property("enumerations agree with look-ups") { evidence in
    evidence.record.enumerations.flatMap { enumeration -> [String] in
      let isRepeated = Set(enumeration.keys).count < enumeration.keys.count
      if isRepeated { return ["a key occurs twice in \(enumeration.keys)"] }
      return enumeration.comparedKeys.compactMap { key -> String? in
        guard let isPresent = evidence.presence(of: key, during: enumeration),
          isPresent != enumeration.keys.contains(key)
        else {
          return nil
        }
        return isPresent ? "\(key) had a value, but was not enumerated" : "\(key) was enumerated, but had no value"
      }
    }
  }
}

extension Evidence {
  /// Returns whether a key had a value during a whole enumeration; nil if that may have changed.
  fileprivate func presence(of key: String, during enumeration: Record.Enumeration) -> Bool? {
    let isPresent = enumeration.present.contains(key)
    if enumeration.isUndisturbed { return isPresent }
    guard combination.operation == .enumeration, combination.interference != .setBystander else { return nil }
    let wasPresent = key == Arena.bystander || combination.situation.hasValue
    let isUntouched = !record.changes.contains {
      $0.began < enumeration.span.ended && $0.ended > enumeration.span.began
    }
    return isUntouched && record.equalWrites == 0 && wasPresent == isPresent ? isPresent : nil
  }
}

extension Record {
  /// The spans of all operations that may have changed whether a key has a value.
  fileprivate var changes: [Span] {
    stored.map(\.span) + erasures.map(\.span) + losses.map(\.span) + fetches.map(\.span) + loads.map(\.span)
      + edits.map(\.span) + joint.map(\.span)
  }
}
