import CisternCore

#if LAYOUT_OF_ENVIRONMENT
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif
#endif

extension DiskLayout {
  /// The layout of new files, unless the options name one or the limit is too small.
  static let ofNewFiles: DiskLayout = {
    #if LAYOUT_OF_ENVIRONMENT
      // Read once. No thread of the tests and trials changes the variable, so the bytes stay valid.
      if let name = unsafe getenv("CISTERN_LAYOUT") {
        guard let layout = unsafe DiskLayout(rawValue: String(cString: name)) else {
          preconditionFailure("CISTERN_LAYOUT must be ordered or dense")
        }
        return layout
      }
    #endif
    return .dense
  }()
}
