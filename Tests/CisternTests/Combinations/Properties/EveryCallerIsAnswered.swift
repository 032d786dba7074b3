extension Property {
  /// Every load has ended, with a value, with the error of a fetch that failed, or cancelled if its caller was.
  static let everyCallerIsAnswered = Property("every caller is answered") { evidence in
    evidence.record.loads.compactMap { load in
      guard let outcome = load.outcome else { return "a load from \(load.span.began) on has not ended" }
      switch outcome {
      case .value, .missing: return nil
      case .failed:
        return evidence.record.failures.isEmpty ? "a load failed, and no fetch did" : nil
      case .cancelled:
        return evidence.combination.interference.cancels ? nil : "a load was cancelled, and no caller was"
      case .error(let code):
        switch code {
        case .notCached where load.policy == .cachedOnly: return nil
        case .timedOut: return nil
        // A fetch that waits for itself.
        case .cyclicLoad where evidence.combination.performer == .callback: return nil
        default: return "a load ended with the error \(code)"
        }
      }
    }
  }
}
