#if Service
  import CisternCore

  extension Error {
    /// Returns the error as logs and spans may contain it. Without keys, an error of the library has none in its location. The
    /// errors of a fetch stay as they are.
    func forLogs(includesKeys: Bool) -> any Error {
      if !includesKeys, let error = self as? CisternError { return error.withoutKey }
      return self
    }
  }
#endif
