extension FlightState {
  /// A result behind a reference.
  ///
  /// The size of a flight's state must not depend on its value. Destroying a flight then needs no type metadata of
  /// the value. For the same reason, a value has a separate class: destroying an outcome would look up its type.
  @usableFromInline
  enum CompletedOutcome {
    case value(ReferencedValue)
    /// An outcome without a fetched value.
    case other(ReferencedOutcome)

    @inlinable
    init(_ outcome: Outcome) {
      self =
        if case .value(let value) = outcome {
          .value(ReferencedValue(value))
        } else {
          .other(ReferencedOutcome(outcome))
        }
    }

    @inlinable
    var outcome: Outcome {
      switch self {
      case .value(let completed): .value(completed.value)
      case .other(let completed): completed.outcome
      }
    }
  }

  @usableFromInline
  final class ReferencedValue {
    @usableFromInline let value: Value

    @inlinable
    init(_ value: Value) {
      self.value = value
    }
  }

  @usableFromInline
  final class ReferencedOutcome {
    @usableFromInline let outcome: Outcome

    @inlinable
    init(_ outcome: Outcome) {
      self.outcome = outcome
    }
  }
}
