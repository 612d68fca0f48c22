"""Makes a random BERT, and a random LENS on it, as their packages would save them: run elsewhere.

Usage: PYTHON tiny_models.py FOLDER [lens]; leaves FOLDER/bert and FOLDER/lens.
"""

import string
import sys
from pathlib import Path

import torch
from transformers import BertConfig, BertModel, BertTokenizerFast

CLASS = "regression_metric_multi_ref"


def bert(folder: Path) -> None:
    folder.mkdir()
    letters = string.printable[:94]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{c}" for c in letters)]
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(words) + "\n")
    tokenizer = BertTokenizerFast(vocab_file=str(vocabulary), model_max_length=64)
    tokenizer.save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder)


def lens(folder: Path, encoder: Path) -> None:
    import pytorch_lightning
    import yaml
    from lens.models.regression_metric_multi_ref import RegressionMetricMultiReference

    choices = {
        "encoder_model": "BERT",
        "pretrained_model": str(encoder),
        "hidden_sizes": [16, 8],
        "layer": "mix",
        "pool": "avg",
    }
    model = RegressionMetricMultiReference(**choices)
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "hparams.yaml").write_text(yaml.dump({**choices, "class_identifier": CLASS}))
    state = {
        "state_dict": model.state_dict(),
        "hyper_parameters": {},
        "pytorch-lightning_version": pytorch_lightning.__version__,
    }
    torch.save(state, folder / "checkpoints" / "model.ckpt")


if __name__ == "__main__":
    torch.manual_seed(0)
    root = Path(sys.argv[1])
    bert(root / "bert")
    if "lens" in sys.argv:
        lens(root / "lens", root / "bert")
