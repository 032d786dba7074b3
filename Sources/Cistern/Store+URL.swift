public import CisternCore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Store {
  /// Opens the store in the directory of a file URL, as the initializer with a path does.
  ///
  /// - Parameters:
  ///   - directory: The file URL of a directory that contains nothing else.
  ///   - memoryLimit: The highest total cost of the values in memory, for all caches together.
  ///   - diskLimit: The highest size of the store's file, from 64 pages (256 KiB) to 64 TiB.
  ///   - configuration: Further options.
  /// - Throws: `CisternError` if the URL is not a file URL, and in the cases of the other initializer.
  public convenience init(
    directory: URL, memoryLimit: ByteCount, diskLimit: ByteCount, configuration: Configuration = Configuration()
  ) throws(CisternError) {
    try self.init(
      directory: try Store.path(of: directory), memoryLimit: memoryLimit, diskLimit: diskLimit,
      configuration: configuration)
  }

  /// Writes a copy of the store to the directory of a file URL, as the method with a path does.
  ///
  /// - Parameter directory: The file URL of the copy, which must be missing or an empty directory.
  /// - Throws: `CisternError` if the URL is not a file URL, and in the cases of the other method.
  public nonisolated(nonsending) func backup(to directory: URL) async throws {
    try await backup(to: Store.path(of: directory))
  }

  /// Makes the data file in the directory of a file URL smaller, as the method with a path does.
  ///
  /// - Parameter directory: The file URL of the store's directory. No process may have the store open.
  /// - Returns: The size of the file before and after.
  /// - Throws: `CisternError` if the URL is not a file URL, and in the cases of the other method.
  @discardableResult
  public nonisolated(nonsending) static func compact(directory: URL) async throws(CisternError) -> Compaction {
    try await compact(directory: try path(of: directory))
  }

  private static func path(of directory: URL) throws(CisternError) -> String {
    guard directory.isFileURL else {
      throw CisternError(
        .invalidArgument, "the URL of the directory is not a file URL", location: directory.absoluteString)
    }
    return directory.path(percentEncoded: false)
  }
}
