import TestDirectories
import TestProcesses

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs the compiler on a piece of code with the modules that this test was built with.
enum Compilation {
  /// The path of the compiler, or nil if none is found.
  static let compiler: String? = {
    let folders = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? ""
    return folders.split(separator: ":").map { "\($0)/swiftc" }.first { unsafe access($0, X_OK) == 0 }
  }()

  /// Returns the compiler's errors for `source`, one per line. The result is empty if the code compiles.
  static func errors(in source: String) -> String {
    guard let compiler else { return "there is no compiler" }
    let directory = TemporaryDirectory()
    let file = "\(directory.path)/snippet.swift"
    let output = "\(directory.path)/output"
    write(source, to: file)
    // The compiler checks lifetimes on its intermediate language, so the frontend must emit it.
    let status = run(
      [
        compiler, "-frontend", "-emit-sil", "-o", "/dev/null", "-module-name", "Snippet", "-parse-as-library",
        "-package-name", packageName, "-swift-version", "6", "-enable-experimental-feature", "Lifetimes",
        "-diagnostic-style", "llvm", "-I", "\(build)/Modules", "-I", "\(root)/Sources/CLMDB",
        "-Xcc", "-fmodule-map-file=\(build)/CSupport.build/module.modulemap", file,
      ], output: output)
    let lines = read(output).split(separator: "\n").filter { $0.contains("error:") }
    if status != 0, lines.isEmpty { return "the compiler failed: \(read(output))" }
    return lines.joined(separator: "\n")
  }

  private static let root = folder(of: folder(of: folder(of: #filePath)))

  /// The folder of the test bundle, which also contains the modules.
  private static let build = folder(
    of: CommandLine.arguments.first { $0.contains(".xctest") } ?? CommandLine.arguments[0])

  /// The package manager's name of the package: its folder in lower case, as an identifier.
  private static let packageName = String(
    root.split(separator: "/").last!.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })

  private static func folder(of path: String) -> String {
    String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }

  private static func write(_ text: String, to path: String) {
    let file = unsafe fopen(path, "w")
    unsafe fputs(text, file)
    unsafe fclose(file)
  }

  private static func read(_ path: String) -> String {
    guard let file = unsafe fopen(path, "r") else { return "" }
    defer { unsafe fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = unsafe fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  /// Runs a program with both outputs in a file, and returns its exit status.
  private static func run(_ arguments: [String], output: String) -> Int32 {
    guard let file = unsafe fopen(output, "w") else { return -1 }
    defer { unsafe fclose(file) }
    let descriptor = unsafe fileno(file)
    let process = try? SpawnedProcess(
      arguments[0], Array(arguments.dropFirst()), descriptors: (nil, descriptor, descriptor))
    return process?.waitForEnd() ?? -1
  }
}
