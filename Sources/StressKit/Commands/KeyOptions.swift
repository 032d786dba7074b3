import ArgumentParser
import Cistern
import Foundation
import InputFormats

/// The options for the keys of a run and the size of their values.
struct KeyOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: "The number of keys. If the folder has fewer files, each file has several keys. (default: 20000)",
    transform: { try integerArgument($0, in: 1...10_000_000) })
  var keys: Int?

  @Option(
    parsing: .unconditional,
    help: "Use synthetic values of this size instead of files: \(ByteCount.argumentForm).", transform: valueSize)
  var valueSize: ByteCount?

  @Option(
    parsing: .unconditional,
    help: "The exponent of Zipf's law for the popularity of keys; 0 for equal popularity. (default: 0.99)",
    transform: exponent)
  var zipf = 0.99

  @Option(
    help: ArgumentHelp(
      "Follow the requests of a trace: a CSV file, plain or gzip, of key, or key,size or time,key,size.",
      valueName: "file"))
  var trace: String?

  /// The default number of keys.
  static let defaultCount = 20_000

  func validate() throws {
    if trace != nil && keys != nil { throw ValidationError("A trace has its own keys: omit --keys.") }
  }

  func keySpace(folder: String?, trace: Trace?) throws -> KeySpace {
    if let trace { return try KeySpace(trace: trace, valueSize: valueSize?.bytes) }
    if let valueSize { return KeySpace(count: keys ?? KeyOptions.defaultCount, valueSize: valueSize.bytes) }
    let folder = folder ?? FileManager.default.currentDirectoryPath
    return KeySpace(folder: folder, files: try FolderScan.files(in: folder), count: keys ?? KeyOptions.defaultCount)
  }

  private static func valueSize(_ text: String) throws -> ByteCount {
    let size = try ByteCount.positive(text)
    guard (Stamp.size...KeySpace.largestValue.bytes).contains(size.bytes) else {
      throw ValidationError(
        "'\(text)' must be from \(Stamp.size) bytes, which identify a value, to \(KeySpace.largestValue).")
    }
    return size
  }

  private static func exponent(_ text: String) throws -> Double {
    guard let exponent = Double(text), (0...10).contains(exponent) else {
      throw ValidationError("'\(text)' must be a number from 0 to 10.")
    }
    return exponent
  }
}
