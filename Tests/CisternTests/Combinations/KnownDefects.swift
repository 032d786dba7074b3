/// A defect of the library that is known and not yet corrected.
struct KnownDefect: Sendable {
  /// What a combination does that the defect concerns.
  enum Effect: Sendable {
    /// It does not end, so it is not run.
    case hangs
    /// It contradicts these properties, which are not checked.
    case contradicts([String])
  }

  let description: String
  let effect: Effect
  /// Whether it concerns a combination.
  let concerns: @Sendable (Combination) -> Bool

  init(_ description: String, _ effect: Effect, _ concerns: @escaping @Sendable (Combination) -> Bool) {
    self.description = description
    self.effect = effect
    self.concerns = concerns
  }
}

extension Combination {
  /// Whether it does not end because of a known defect.
  var isKnownToHang: Bool {
    knownDefects.contains { defect in
      if case .hangs = defect.effect { defect.concerns(self) } else { false }
    }
  }

  /// Whether it contradicts a property because of a known defect.
  func isKnownToContradict(_ property: String) -> Bool {
    knownDefects.contains { defect in
      if case .contradicts(let names) = defect.effect {
        names.contains(property) && defect.concerns(self)
      } else {
        false
      }
    }
  }
}

/// What is left out of the combinations. The list is empty as soon as each defect is corrected.
let knownDefects: [KnownDefect] = [
  KnownDefect(
    "Observers are told of the eviction of a record that a newer version of the schema wrote.",
    .contradicts(["observers agree with look-ups"])
  ) { $0.situation == .newerRecord && $0.interference == .evictFromDisk },
  KnownDefect(
    "Observers are told twice of the removal of a value that expired on disk during an edit that failed.",
    .contradicts(["observers agree with look-ups"])
  ) { $0.operation == .edit(.failed) && $0.interference == .expire && $0.kind.keepsEvicted },
]
