// Toolchain mismatches that people reported in public, by the number of the case and the thread:
// the manifest that describes what they wanted resolves to what worked for them, or says why it
// cannot. Expectations come from the threads, not from cukit.
#include "fixture.hpp"

#include <gmock/gmock.h>

namespace cukit::resolve {
namespace {

using testing::HasSubstr;

/// The real index and NVIDIA's own manifests.
const catalog::Catalog& everything() {
  static const auto catalog = [] {
    auto result = real_catalog();
    for (const auto& one : test::real_manifests()) {
      if (one.product == "cuda") {
        result.manifests.push_back(real_manifest("cuda", one.label));
      }
    }
    std::sort(result.manifests.begin(), result.manifests.end(),
              [](const auto& a, const auto& b) { return a.label < b.label; });
    result.redist_was_asked = true;
    return result;
  }();
  return catalog;
}

struct Case {
  const char* id;
  const char* thread;
  const char* body;
  /// "13.0" the minor of the answer, or "conflict".
  const char* answer;
  /// Text that must be in the conflict or, of an answer, in its artifacts ("nvcc 13.0.88") or
  /// notes.
  std::vector<const char*> says;
  const char* compiler = ""; ///< "gcc 13.1": what host.compiler is on the person's machine
  const char* glibc = "";
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.id << " " << one.thread;
}

// P1: compiler and headers drift apart
const std::vector<Case> k_drift = {
    {"B01",
     "flashinfer-ai/flashinfer#3493",
     "gpus: [sm_120f]\npytorch: cu130\nconsumers: [flashinfer]\n",
     "13.0",
     {"nvcc 13.0.88", "crt 13.0.88", "nvvm 13.0.88", "cccl 13.0.85", "cudart 13.0.96"}},
    {"B02",
     "odysseus-dev/odysseus#214",
     "gpus: [sm_90]\npytorch: cu130\nconsumers: [vllm]\n",
     "13.0",
     {"nvcc 13.0.88", "cudart 13.0."}},
    {"B03",
     "FlashML-org/FreeToken#167",
     "gpus: [sm_90]\ntoolkit: {nvcc: \"13.0\"}\nconsumers: [flashinfer]\n",
     "13.0",
     {"nvvm 13.0.88", "crt 13.0.88", "curand "}},
    {"B04",
     "EricLBuehler/mistral.rs#2006",
     "gpus: [sm_89]\ntoolkit: {nvcc: \"13.0\", headers: \"13.0\"}\n",
     "13.0",
     {"cudart 13.0."}},
    {"B05",
     "lightseekorg/tokenspeed PR#644",
     "gpus: [sm_100]\npytorch: cu130\nconsumers: [torch-extensions]\n",
     "13.0",
     {"crt 13.0.88"}},
    {"B08",
     "NVIDIA/cccl#9790",
     "gpus: [sm_89]\ntoolkit: {nvcc: \"13.3\"}\n",
     "13.3",
     {"nvcc 13.3.", "cccl 13.3.3"}},
    {"B09",
     "lightseekorg/tokenspeed PR#247",
     "gpus: [sm_100]\ntoolkit: {nvcc: \"13.0\"}\nconsumers: [triton]\n",
     "13.0",
     {"crt 13.0.88"}},
    {"B10",
     "meta-pytorch/MSLK PR#505",
     "gpus: [sm_90]\ntoolkit: {nvcc: \"12.8\", headers: \"13.0\"}\n",
     "conflict",
     {"toolkit.nvcc: 12.8", "toolkit.headers: 13.0", "the headers have nvcc's minor"}},
    {"B11",
     "NVIDIA/cccl#6327",
     "gpus: [sm_90]\ntoolkit: {nvcc: \"13.0\", cccl: matched}\n",
     "13.0",
     {"cccl 13.0.85"}},
    {"B13",
     "NVIDIA/cccl#1571",
     "gpus: [sm_90a]\ntoolkit: {nvcc: \"13.0\"}\ncomponents: [cccl]\n",
     "13.0",
     {"cccl 13.0.85"}},
    {"B14",
     "flashinfer-ai/flashinfer#3159",
     "gpus: [sm_90]\npytorch: cu130\ntoolkit: {cccl: \">=3.3.2\"}\n",
     "13.0",
     {"nvcc 13.0.88", "cccl 13.3.3"}},
    {"B15",
     "pytorch/pytorch#4150",
     "gpus: [sm_80]\ntoolkit: {nvcc: \"13.0\", headers: \"13.2\"}\n",
     "conflict",
     {"the headers have nvcc's minor"}},
    {"B17",
     "NVIDIA/cccl#4154",
     "gpus: [sm_90]\ntoolkit: {nvcc: \"13.0\", cccl: \"2.8\"}\n",
     "conflict",
     {"CUDA 13.0.3 goes with CCCL 3.0 or newer"}},
    {"B18",
     "flashinfer-ai/flashinfer PR#4763",
     "gpus: [sm_89]\ntoolkit: {nvcc: \"13.0\", cccl: \">=3.3\"}\nconsumers: [flashinfer]\n",
     "13.0",
     {"nvcc 13.0.88", "cccl 13.3.3"}}};

// P2: nvcc too old for the GPU
const std::vector<Case> k_old_compiler = {
    {"B20",
     "vllm-project/vllm#42393",
     "gpus: [GeForce RTX 5090]\npytorch: cu128\nconsumers: [flashinfer]\n",
     "12.9",
     {}},
    {"B21",
     "flashinfer-ai/flashinfer#3675",
     "gpus: [GeForce RTX 5090]\ntoolkit: {nvcc: \"12.8\"}\nconsumers: [flashinfer]\n",
     "conflict",
     {"flashinfer", "12.9", "toolkit.nvcc: 12.9 instead of 12.8"}},
    {"B22",
     "vllm-project/vllm#50705",
     "gpus: [sm_120]\npytorch: cu130\nconsumers: [flashinfer, vllm]\n",
     "13.0",
     {"nvcc 13.0.88"}},
    {"B24", "deepseek-ai/DeepGEMM#172", "gpus: [sm_100f]\npytorch: cu128\n", "12.9", {}},
    {"B26",
     "ggml-org/llama.cpp#13271",
     "gpus: [sm_120]\ntoolkit: {nvcc: \"12.4\"}\n",
     "conflict",
     {"begins with CUDA 12.8", "toolkit.nvcc: 12.8 instead of 12.4"}},
    {"B27",
     "ggml-org/llama.cpp#23224",
     "gpus: [sm_120a]\ntoolkit: {nvcc: \"13.0\"}\n",
     "13.0",
     {"nvcc 13.0.88"}},
    {"B28",
     "abetlen/llama-cpp-python#1003",
     "gpus: [sm_86]\ntoolkit: {nvcc: \"9.1\"}\n",
     "conflict",
     {"toolkit.nvcc: 9.1", "no release of CUDA is in"}},
    {"B29",
     "NVlabs/tiny-cuda-nn#239",
     "gpus: [sm_89]\ntoolkit: {nvcc: \"11.8\"}\n",
     "11.8",
     {"nvcc 11.8.89"}},
    {"B30",
     "flashinfer-ai/flashinfer#1282",
     "gpus: [sm_90a]\npytorch: cu126\nconsumers: [flashinfer]\n",
     "12.6",
     {"nvcc 12.6."}},
    {"B32",
     "lbin/DCNv2#25",
     "gpus: [sm_86]\ntoolkit: {nvcc: \"11.0\"}\n",
     "conflict",
     {"toolkit.nvcc: 11.0"}}};

// P6: ptxas and the PTX it is given
const std::vector<Case> k_ptxas = {
    {"B72",
     "triton-lang/triton#8539",
     "gpus: [sm_121a]\ntoolkit: {nvcc: \"13.0\"}\nconsumers: [triton]\n",
     "13.0",
     {"nvcc 13.0.88"}},
    {"B75",
     "triton-inference-server/server#8632",
     "gpus: [sm_110a]\nconsumers: [triton]\npytorch: cu130\n",
     "13.0",
     {"nvcc 13.0.88"}},
    {"B76",
     "opendatalab/MinerU#4350",
     "gpus: [sm_120]\npytorch: cu128\nconsumers: [triton]\n",
     "12.8",
     {"nvcc 12.8."}},
    {"B77",
     "QwenLM/Qwen2.5-Omni#247",
     "gpus: [sm_90]\ntoolkit: {nvcc: \"12.9\", ptxas: \"12.8\"}\n",
     "conflict",
     {"an older one refuses its PTX 8.8"}},
    {"B78",
     "conda-forge/cudatoolkit-dev-feedstock#66",
     "gpus: [sm_80]\ntoolkit: {nvcc: \"11.7\", ptxas: \"11.6\"}\n",
     "conflict",
     {"toolkit.nvcc: 11.7"}},
    {"B79",
     "tinygrad/tinygrad#7729",
     "gpus: [sm_89]\ntoolkit: {nvcc: \"13.0\", ptxas: \">=13.2\"}\n",
     "13.0",
     {"nvcc 13.0.88", "nvcc 13.2."}}};

// P8: a driver older than the PTX or the toolkit
const std::vector<Case> k_driver = {
    {"B96",
     "NVIDIA/nvbandwidth#61",
     "gpus: [sm_90]\ndriver: \">=580\"\ntoolkit: {nvcc: \"13.2\"}\n",
     "13.2",
     {"every GPU gets machine code", "PTX 9.2"}},
    {"B99",
     "googlecolab/colabtools#5667",
     "gpus: [T4]\ndriver: \">=550\"\ntoolkit: {nvcc: \"12.5\"}\n",
     "12.5",
     {"every GPU gets machine code", "PTX 8.5"}},
    {"B99 fix",
     "googlecolab/colabtools#5667",
     "gpus: [T4]\ndriver: \">=550\"\ntoolkit: {nvcc: \"12.4\"}\n",
     "12.4",
     {}},
    {"B100",
     "huggingface/candle#2237",
     "gpus: [sm_89]\ndriver: \">=535\"\n",
     "12.9",
     {"every GPU gets machine code"}},
    {"B101", "open-mmlab/OpenPCDet#934", "gpus: [sm_80]\ndriver: \">=470\"\n", "11.8", {}},
    {"B102",
     "NVIDIA/cutlass#2804",
     "gpus: [H100]\ndriver: \">=550\"\npytorch: cu130\n",
     "conflict",
     {"branch 580 or newer", "cuda-compat-13-0"}}};

// P9: host compiler and C library
const std::vector<Case> k_host = {
    {"B103",
     "opencv/opencv#27111",
     "gpus: [sm_89]\ntoolkit: {nvcc: \"12.8\"}\nhost: {compiler: gcc}\n",
     "conflict",
     {"sinpi and cospi"},
     "gcc 14.2",
     "2.41"},
    {"B103 fix",
     "NVIDIA/cuda-samples#378",
     "gpus: [sm_89]\npytorch: cu130\nhost: {compiler: gcc}\n",
     "13.0",
     {},
     "gcc 14.2",
     "2.41"},
    {"B105",
     "NixOS/nixpkgs PR#498678",
     "gpus: [sm_89]\npytorch: cu130\nhost: {compiler: gcc}\n",
     "13.2",
     {},
     "gcc 15.2",
     "2.42"},
    {"B106",
     "Eyeline-Labs/FlashDepth#2",
     "gpus: [sm_89]\ntoolkit: {nvcc: \"12.1\"}\nhost: {compiler: gcc}\n",
     "conflict",
     {"gcc up to 12", "gcc 13.1"},
     "gcc 13.1",
     "2.39"}};

// P10: PyTorch's CUDA and nvcc's
const std::vector<Case> k_torch = {
    {"B107",
     "Dao-AILab/flash-attention#219",
     "gpus: [sm_90]\npytorch: cu130\ntoolkit: {nvcc: \"12.8\"}\n",
     "conflict",
     {"pytorch: cu130", "toolkit.nvcc: 12.8"}},
    {"B108",
     "lm-sys/FastChat#1203",
     "gpus: [sm_80]\npytorch: cu118\ntoolkit: {nvcc: \"12.1\"}\n",
     "conflict",
     {"pytorch: cu118", "toolkit.nvcc: 12.1"}},
    {"B110",
     "vllm-project/vllm#602",
     "gpus: [sm_80]\npytorch: cu121\nconsumers: [torch-extensions]\n",
     "12.1",
     {"nvcc 12.1."}},
    {"B111",
     "microsoft/DeepSpeed#3223",
     "gpus: [sm_80]\npytorch: cu118\n",
     "11.8",
     {"nvcc 11.8.89"}},
    {"B114",
     "NVIDIA/TensorRT-LLM#9318",
     "gpus: [sm_100]\npytorch: cu130\ntoolkit: {nvcc: \"13.0\"}\n",
     "13.0",
     {"nvcc 13.0.88"}},
    {"B115",
     "bghira/SimpleTuner#2812",
     "gpus: [sm_89]\npytorch: cu130\ncomponents: [core, cublas]\n",
     "13.0",
     {"cublas 13.1.", "cudart 13.0.96"}},
    {"B117",
     "NVIDIA/TensorRT#4614",
     "gpus: [sm_89]\npytorch: cu130\ncomponents: [core, nvrtc]\n",
     "13.0",
     {"nvidia_cuda_nvrtc-13.0.88"}},
    {"B118",
     "ray-project/ray PR#64082",
     "gpus: [sm_90]\npytorch: cu130\ntoolkit: {nvcc: \"13.3\"}\nconsumers: [flashinfer]\n",
     "13.3",
     {"nvcc 13.3."}}};

MachineFacts machine_of(const Case& one) {
  MachineFacts facts;
  const std::string_view compiler = one.compiler;
  if (!compiler.empty()) {
    facts.compiler = machine::Compiler{
        .path = "/usr/bin/g++", .kind = "gcc", .version = *Version::parse(compiler.substr(4))};
  }
  if (*one.glibc != '\0') {
    facts.glibc = *Version::parse(one.glibc);
  }
  return facts;
}

std::string text_of(const Resolution& resolution) {
  std::string text;
  for (const auto& artifact : resolution.lock.platforms.front().artifacts) {
    text += fmt::format("{} {} {}\n", artifact.component, artifact.version.text(), artifact.file);
  }
  for (const auto& note : resolution.notes) {
    text += note.text + "\n";
  }
  return text;
}

class RealCase : public testing::TestWithParam<Case> {};

TEST_P(RealCase, resolves_to_what_worked_or_says_why_not) {
  const auto& one = GetParam();
  const auto manifest = manifest_of(std::string(one.body) + "platforms: [linux-x86_64]\n");
  const auto answer = answer_to(manifest, everything(), machine_of(one));
  const auto* conflict = std::get_if<Conflict>(&answer);
  const auto text =
      conflict != nullptr ? resolve::text_of(*conflict) : text_of(std::get<Resolution>(answer));
  const auto minor =
      conflict != nullptr ? "conflict" : std::get<Resolution>(answer).lock.release.major_minor();
  EXPECT_EQ(minor, one.answer) << one.body << text;
  for (const auto* says : one.says) {
    EXPECT_THAT(text, HasSubstr(says)) << one.body;
  }
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.id;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(P1, RealCase, testing::ValuesIn(k_drift), name_of);
INSTANTIATE_TEST_SUITE_P(P2, RealCase, testing::ValuesIn(k_old_compiler), name_of);
INSTANTIATE_TEST_SUITE_P(P6, RealCase, testing::ValuesIn(k_ptxas), name_of);
INSTANTIATE_TEST_SUITE_P(P8, RealCase, testing::ValuesIn(k_driver), name_of);
INSTANTIATE_TEST_SUITE_P(P9, RealCase, testing::ValuesIn(k_host), name_of);
INSTANTIATE_TEST_SUITE_P(P10, RealCase, testing::ValuesIn(k_torch), name_of);

} // namespace
} // namespace cukit::resolve
