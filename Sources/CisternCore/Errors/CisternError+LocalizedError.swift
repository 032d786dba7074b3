#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension CisternError: LocalizedError {
  /// The message, the operation that failed, the cause and advice. `localizedDescription` returns it.
  public var errorDescription: String? { description }

  /// The cause, if any.
  public var failureReason: String? { cause.map { "\($0)" } }

  /// The remedy, or nil if the message contains it.
  public var recoverySuggestion: String? { remedy }
}
