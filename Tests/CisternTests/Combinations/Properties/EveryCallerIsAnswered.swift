extension Property {
  /// Every load ends with a value, with the error of a failed fetch, or with cancellation if its caller was
  /// cancelled.
  static let everyCallerIsAnswered = Property("every caller is answered") { evidence in
    evidence.record.loads.compactMap { load in
      guard let outcome = load.outcome else { return "a load from \(load.span.began) on has not ended" }
      let mayBeAbsent = evidence.record.fetches.contains { $0.effect == .absence }
      switch outcome {
      case .value: return nil
      case .missing: return mayBeAbsent ? nil : "a load found no value, but no fetch found the key absent"
      case .failed:
        return evidence.record.failures.isEmpty ? "a load failed, but no fetch failed" : nil
      case .cancelled:
        return evidence.combination.cancels ? nil : "a load was cancelled, but no caller was cancelled"
      case .error(let code):
        switch code {
        case .notCached where load.policy == .cachedOnly: return nil
        case .timedOut: return nil
        case .noValue where mayBeAbsent: return nil
        case .circuitOpen where evidence.record.openCircuit != nil: return nil
        // The load in the callback would wait for its enclosing fetch.
        case .cyclicLoad where evidence.combination.performer == .callback: return nil
        default: return "a load ended with the error \(code)"
        }
      }
    }
  }
}
