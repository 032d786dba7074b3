import Cistern

extension CisternError {
  /// Returns the code of the error that `body` throws; nil without an error, or for an error of another type.
  package static func code(of body: () async throws -> Void) async -> Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? CisternError)?.code
    }
  }
}
