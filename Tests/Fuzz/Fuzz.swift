// The program that `scripts/torture fuzz` builds with libFuzzer. libFuzzer has the main function and calls the
// function below.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The targets of arbitrary bytes, by name. A target ends the process if a rule is violated.
private let targets: [String: @Sendable ([UInt8]) -> Void] = [
  "records": fuzzRecords,
  "record-round-trips": fuzzRecordRoundTrips,
  "disk-keys": fuzzDiskKeys,
  "keys": fuzzKeys,
  "key-order": fuzzKeyOrder,
  "codecs": fuzzCodecs,
  "merge-patch": fuzzMergePatch,
  "invalidations": fuzzInvalidations,
  "traces": fuzzTraces,
  "gzip": fuzzGzip,
  "arguments": fuzzArguments,
  "import": fuzzImport,
  "data-files": fuzzDataFiles,
]

/// The target that CISTERN_FUZZ names. The command-line arguments belong to libFuzzer.
private let chosen: @Sendable ([UInt8]) -> Void = {
  let name = unsafe getenv("CISTERN_FUZZ").map { unsafe String(cString: $0) } ?? ""
  guard let target = targets[name] else { fatalError("no target '\(name)': \(targets.keys.sorted())") }
  return target
}()

/// Tests one input. libFuzzer calls this function for each input that it generates.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  // The buffer has `size` bytes and is valid during the call. The copy makes a read past its end detectable.
  let input = unsafe Array(UnsafeBufferPointer(start: data, count: size))
  chosen(input)
  return 0
}

/// Ends the process unless the condition holds. libFuzzer reports this as a finding.
func require(_ holds: Bool, _ rule: @autoclosure () -> String, file: StaticString = #file, line: UInt = #line) {
  guard holds else { fatalError("broken: \(rule())", file: file, line: line) }
}
