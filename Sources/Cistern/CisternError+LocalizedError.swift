#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension CisternError: LocalizedError {
  /// The message, the operation that failed, the cause, and advice: `localizedDescription` returns it.
  public var errorDescription: String? { description }

  /// The cause, if there is one.
  public var failureReason: String? { cause.map { "\($0)" } }

  /// What to do, if the message does not say it.
  public var recoverySuggestion: String? { code.advice }
}
