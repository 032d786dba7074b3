import LMDB

extension DiskEngine {
  /// Runs `body` inside the gate of the directory. See ``DirectoryGate/hold(_:_:)``.
  func withGate<Result>(_ body: () throws -> Result) throws -> Result {
    try injectFault(options.faults.atGate(), in: "lock the directory")
    return try claim.withGate({ $0 as any Error }) { () throws(any Error) in try body() }
  }

  /// Throws the error that a test injects into the commit, if any.
  func injectFault() throws(LMDBError) { try injectFault(options.faults.atCommit(), in: LMDBError.commitOperation) }

  /// Throws the error of a fault that a test injects, if any.
  func injectFault(_ fault: DiskFaults.Fault?, in operation: String) throws(LMDBError) {
    if let fault { throw fault.error(of: operation) }
  }
}

extension DiskFaults.Fault {
  /// Returns the error that LMDB would throw.
  func error(of operation: String) -> LMDBError {
    LMDBError(code, operation: operation, message: "a fault that a test injected")
  }

  private var code: LMDBError.Code {
    switch self {
    case .noSpace: .noSpace
    case .inputOutput: .ioError
    case .corrupted: .corrupted
    case .panic: .panic
    case .mapFull: .mapFull
    case .outOfResources: .outOfResources
    case .permission: .permission
    }
  }
}
