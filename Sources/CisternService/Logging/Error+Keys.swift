#if Service
  import CisternCore

  extension Error {
    /// Returns the error as logs and spans may contain it. Without keys, an error of the library has none. Other errors
    /// of a fetch stay as they are.
    func forLogs(includesKeys: Bool) -> any Error { includesKeys ? self : withoutKeys }
  }
#endif
