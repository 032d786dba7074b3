#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension JSONMergePatch {
  /// Merges texts, as data of UTF-8.
  public static func merge(_ cached: Data, _ incoming: Data) throws -> Data {
    Data(try merge(Array(cached), Array(incoming)))
  }
}
