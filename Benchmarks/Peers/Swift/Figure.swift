/// One line of what a harness prints.
struct Figure {
  let group: String
  let workload: String
  let subject: String
  var threads = 1
  let metric: String
  let value: Double

  func print() {
    Swift.print("\(group),\(workload),\(subject),\(threads),\(metric),\(value)")
  }
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
