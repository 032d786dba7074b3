/// A file that a closure can read. A closure cannot hold a ``FileStream``, which cannot be copied.
package final class OpenFile {
  private var stream: FileStream

  package init(path: String) throws {
    stream = try FileStream(path: path)
  }

  /// Returns the next bytes, or an empty slice at the end.
  package func next() throws -> ArraySlice<UInt8> { try stream.next() }
}
