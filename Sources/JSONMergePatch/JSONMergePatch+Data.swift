#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension JSONMergePatch {
  /// Returns the cached JSON text with the incoming one merged into it. Both are UTF-8.
  ///
  /// - Parameters:
  ///   - cached: The cached text.
  ///   - incoming: The incoming text, which has precedence.
  /// - Returns: The merged text.
  /// - Throws: ``JSONSyntaxError`` if the incoming text is not JSON, or ``UnusableCachedValue`` if the cached text is
  ///   not.
  public static func merge(_ cached: Data, _ incoming: Data) throws -> Data {
    Data(try merge(Array(cached), Array(incoming)))
  }
}
